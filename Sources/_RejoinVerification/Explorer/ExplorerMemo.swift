// SPDX-License-Identifier: Apache-2.0

/// A table of results, with pairs of numbers as keys.
///
/// The second number of a pair must be below 2⁴⁰. The table uses open
/// addressing over flat arrays, because look-ups dominate the cost of an
/// exploration.
struct ExplorerMemo {
  private var keys = [UInt64](repeating: .max, count: 1 << 10)
  private var values = [UInt32](repeating: 0, count: 1 << 10)
  private var count = 0

  /// The value of a pair, or `nil` if the pair is missing.
  subscript(a: Int, b: Int) -> Int? {
    let key = Self.key(a, b)
    let index = self.index(of: key)
    return keys[index] == key ? Int(truncatingIfNeeded: values[index]) : nil
  }

  /// Adds the value of a pair.
  ///
  /// - Returns: Whether the pair is new.
  @discardableResult
  mutating func insert(_ a: Int, _ b: Int, _ value: Int) -> Bool {
    let key = Self.key(a, b)
    let index = self.index(of: key)
    if keys[index] == key { return false }
    (keys[index], values[index]) = (key, UInt32(truncatingIfNeeded: value))
    count &+= 1
    if count &* 2 > keys.count { grow() }
    return true
  }

  private static func key(_ a: Int, _ b: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: a) << 40 | UInt64(truncatingIfNeeded: b)
  }

  private func index(of key: UInt64) -> Int {
    let mask = keys.count &- 1
    var mixed = key &* 0x9e37_79b9_7f4a_7c15
    mixed ^= mixed >> 32
    var index = Int(truncatingIfNeeded: mixed) & mask
    while true {
      let found = keys[index]
      if found == key || found == .max { return index }
      index = (index &+ 1) & mask
    }
  }

  private mutating func grow() {
    let (oldKeys, oldValues) = (keys, values)
    keys = [UInt64](repeating: .max, count: oldKeys.count * 2)
    values = [UInt32](repeating: 0, count: oldKeys.count * 2)
    for (key, value) in zip(oldKeys, oldValues) where key != .max {
      let index = self.index(of: key)
      (keys[index], values[index]) = (key, value)
    }
  }
}
