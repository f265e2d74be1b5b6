// SPDX-License-Identifier: Apache-2.0

/// The visited configurations in the order of discovery, each with its
/// predecessor.
///
/// The table uses open addressing over flat arrays. It needs about 32 bytes per
/// configuration, so tens of millions of configurations fit in memory.
struct ExplorerTable {
  private var states: [UInt64] = []
  private var messages: [UInt64] = []
  private var parents: [UInt32] = []
  private var buckets = [UInt32](repeating: 0, count: 1 << 12)

  var count: Int { states.count }

  subscript(index: Int) -> ExplorerConfiguration {
    ExplorerConfiguration(states: states[index], messages: messages[index])
  }

  /// Returns the index of a configuration's predecessor.
  ///
  /// The first configuration is its own predecessor.
  func parent(of index: Int) -> Int { Int(parents[index]) }

  /// Adds a configuration unless the table contains it.
  ///
  /// - Returns: Whether the configuration is new.
  mutating func insert(
    _ configuration: ExplorerConfiguration, from parent: Int
  ) -> Bool {
    var bucket = home(configuration.states, configuration.messages)
    while buckets[bucket] != 0 {
      let index = Int(truncatingIfNeeded: buckets[bucket]) &- 1
      if states[index] == configuration.states,
        messages[index] == configuration.messages
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
    for index in states.indices {
      var bucket = home(states[index], messages[index])
      while buckets[bucket] != 0 {
        bucket = (bucket &+ 1) & (buckets.count &- 1)
      }
      buckets[bucket] = UInt32(index + 1)
    }
  }
}
