// SPDX-License-Identifier: Apache-2.0

/// A key with a number that differs from that of most other keys.
protocol RunKey: Hashable, Sendable {
  /// Equal for equal keys, and usually different for different keys.
  var prehash: UInt32 { get }
}

extension SchemaName: RunKey {
  var prehash: UInt32 { UTF8Order.prehash(of: text) }
}

extension FieldKey: RunKey {
  var prehash: UInt32 { UTF8Order.prehash(of: name) }
}

extension RecordID: RunKey {
  var prehash: UInt32 { UTF8Order.prehash(of: key) }
}

extension UInt32: RunKey {
  var prehash: UInt32 { self }
}

extension ObjectIdentifier: RunKey {
  /// Without the lowest bits, which are the same in all addresses.
  var prehash: UInt32 {
    UInt32(truncatingIfNeeded: UInt(bitPattern: self) >> 3)
  }
}

/// A map for keys that come in runs, which starts a look-up at the last index.
///
/// A save edits record after record and may name a field several times. A small
/// map compares keys one by one and does not hash them. It compares their marks
/// first, because most comparisons fail.
struct RunMap<Key: RunKey, Content: Sendable>: Sendable {
  struct Entry: Sendable {
    let key: Key
    fileprivate let prehash: UInt32
    var content: Content

    fileprivate init(_ key: Key, _ prehash: UInt32, _ content: Content) {
      (self.key, self.prehash, self.content) = (key, prehash, content)
    }
  }

  /// The maximum number of keys that are not hashed.
  private static var few: Int { 12 }

  /// The entries, in the order of their insertion.
  private(set) var entries: [Entry] = []
  /// The inverse of `entries`, or empty while there are few.
  private var indices: [Key: Int] = [:]
  /// The index of the last key that was found.
  private var last = 0

  init() {}

  var isEmpty: Bool { entries.isEmpty }

  /// Returns the index of a key in `entries`.
  func index(of key: Key) -> Int? { index(of: key, key.prehash) }

  private func index(of key: Key, _ prehash: UInt32) -> Int? {
    // Keys often return in the order of their insertion.
    if isIndex(last, of: key, prehash) { return last }
    if isIndex(last + 1, of: key, prehash) { return last + 1 }
    if entries.count > Self.few { return indices[key] }
    for index in entries.indices where isIndex(index, of: key, prehash) {
      return index
    }
    return nil
  }

  private func isIndex(_ index: Int, of key: Key, _ prehash: UInt32) -> Bool {
    index < entries.count && entries[index].prehash == prehash
      && entries[index].key == key
  }

  /// The content under a key.
  subscript(key: Key) -> Content? {
    index(of: key).map { entries[$0].content }
  }

  /// Returns whether a key is at one of the first two indices to search.
  private func isNear(_ key: Key, _ prehash: UInt32) -> Bool {
    isIndex(last, of: key, prehash) || isIndex(last + 1, of: key, prehash)
  }

  /// Returns the index of a key in `entries`.
  ///
  /// Adds a missing key with `initial`.
  mutating func intern(
    _ key: Key, default initial: @autoclosure () -> Content
  ) -> Int {
    let prehash = key.prehash
    if entries.count <= Self.few || isNear(key, prehash) {
      if let index = index(of: key, prehash) {
        last = index
        return index
      }
      last = entries.count
      entries.append(Entry(key, prehash, initial()))
      if entries.count > Self.few {
        for (index, entry) in entries.enumerated() {
          indices[entry.key] = index
        }
      }
      return last
    }
    // Hash the key only once, whether or not it is missing.
    let new = entries.count
    last = { (index: inout Int) in index }(&indices[key, default: new])
    if last == new { entries.append(Entry(key, prehash, initial())) }
    return last
  }

  /// Changes the content under a key in place.
  ///
  /// A missing key starts with `initial`.
  mutating func update<Result>(
    _ key: Key, default initial: @autoclosure () -> Content,
    _ change: (inout Content) -> Result
  ) -> Result {
    let index = intern(key, default: initial())
    return change(&entries[index].content)
  }

  /// Adds the content of a missing key, or combines it with the content under
  /// the key.
  ///
  /// - Returns: The result of `combine`, or `nil` if the key was missing.
  mutating func add<Result>(
    _ content: @autoclosure () -> Content, under key: Key,
    orCombine combine: (inout Content) -> Result
  ) -> Result? {
    let count = entries.count
    let index = intern(key, default: content())
    return index < count ? combine(&entries[index].content) : nil
  }

  /// Removes all keys except the first `count`.
  mutating func removeAll(after count: Int) {
    for entry in entries[count...] { indices[entry.key] = nil }
    entries.removeSubrange(count...)
    if count <= Self.few { indices = [:] }
    last = 0
  }

  /// Returns whether the keys were inserted in an order.
  @inline(__always)
  func isSorted(by areInOrder: (Key, Key) -> Bool) -> Bool {
    entries.indices.dropFirst().allSatisfy {
      areInOrder(entries[$0 - 1].key, entries[$0].key)
    }
  }

  /// Calls `change` with each index and its content, which it can change in
  /// place.
  mutating func updateAll(_ change: (Int, inout Content) -> Void) {
    for index in entries.indices { change(index, &entries[index].content) }
  }

  /// Replaces the content under a key.
  mutating func set(_ key: Key, to content: Content) {
    update(key, default: content) { $0 = content }
  }
}

extension RunMap where Key: Comparable {
  /// Whether the keys were inserted in order, as they often are.
  private var isSorted: Bool { isSorted(by: <) }

  /// The indices of the entries, sorted by key.
  var order: [Int] {
    isSorted
      ? Array(entries.indices)
      : entries.indices.sorted { entries[$0].key < entries[$1].key }
  }

  /// The entries, sorted by key.
  var sorted: [Entry] { isSorted ? entries : order.map { entries[$0] } }
}
