// SPDX-License-Identifier: Apache-2.0

/// The configurations that have been met, each with the one it was met from, in the
/// order in which they were met.
///
/// A hash table with open addressing over flat arrays: 24 bytes a configuration and
/// no metadata, which keeps tens of millions of them in memory.
struct ExplorerTable {
  private var states: [UInt64] = []
  private var messages: [UInt64] = []
  private var parents: [UInt32] = []
  private var buckets = [UInt32](repeating: 0, count: 1 << 12)

  var count: Int { states.count }

  subscript(place: Int) -> ExplorerConfiguration {
    ExplorerConfiguration(states: states[place], messages: messages[place])
  }

  /// The configuration from which one was met first; that of the first is itself.
  func parent(of place: Int) -> Int { Int(parents[place]) }

  /// Adds a configuration unless it is there.
  ///
  /// - Returns: Whether it is new.
  mutating func insert(
    _ configuration: ExplorerConfiguration, from parent: Int
  ) -> Bool {
    var bucket = home(configuration.states, configuration.messages)
    while buckets[bucket] != 0 {
      let place = Int(truncatingIfNeeded: buckets[bucket]) &- 1
      if states[place] == configuration.states,
        messages[place] == configuration.messages
      {
        return false
      }
      bucket = (bucket &+ 1) & (buckets.count &- 1)
    }
    states.append(configuration.states)
    messages.append(configuration.messages)
    parents.append(UInt32(parent))
    buckets[bucket] = UInt32(states.count)
    if states.count &* 2 > buckets.count { grow() }
    return true
  }

  private func home(_ a: UInt64, _ b: UInt64) -> Int {
    var mixed = (a ^ b &* 0x94d0_49bb_1331_11eb) &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 32)) &* 0xbf58_476d_1ce4_e5b9
    return Int(truncatingIfNeeded: mixed ^ (mixed >> 29))
      & (buckets.count &- 1)
  }

  private mutating func grow() {
    buckets = [UInt32](repeating: 0, count: buckets.count * 2)
    for place in states.indices {
      var bucket = home(states[place], messages[place])
      while buckets[bucket] != 0 {
        bucket = (bucket &+ 1) & (buckets.count &- 1)
      }
      buckets[bucket] = UInt32(place + 1)
    }
  }
}
