// SPDX-License-Identifier: Apache-2.0

/// A key that a number tells apart from most others.
protocol RunKey: Hashable, Sendable {
  /// Equal for equal keys, and mostly different for others.
  var mark: UInt32 { get }
}

extension SchemaName: RunKey {
  var mark: UInt32 { UTF8Order.mark(of: text) }
}

extension FieldKey: RunKey {
  var mark: UInt32 { UTF8Order.mark(of: name) }
}

extension RecordID: RunKey {
  var mark: UInt32 { UTF8Order.mark(of: key) }
}

extension UInt32: RunKey {
  var mark: UInt32 { self }
}

extension ObjectIdentifier: RunKey {
  /// The lowest bits of an address are alike.
  var mark: UInt32 { UInt32(truncatingIfNeeded: UInt(bitPattern: self) >> 3) }
}

/// A map for keys that come in runs: it looks first where it looked last.
///
/// A save edits one record after the other and may name a field several times.
/// Few keys are compared one by one, without being hashed. Their marks are
/// compared first, since most comparisons fail.
struct RunMap<Key: RunKey, Content: Sendable>: Sendable {
  struct Entry: Sendable {
    let key: Key
    fileprivate let mark: UInt32
    var content: Content

    fileprivate init(_ key: Key, _ mark: UInt32, _ content: Content) {
      (self.key, self.mark, self.content) = (key, mark, content)
    }
  }

  /// Up to that many keys are not hashed.
  private static var few: Int { 12 }

  /// The entries, in the order in which their keys came.
  private(set) var entries: [Entry] = []
  /// The inverse of `entries`; empty while there are few.
  private var places: [Key: Int] = [:]
  /// The place that was found last.
  private var last = 0

  init() {}

  var isEmpty: Bool { entries.isEmpty }

  /// The index of a key in `entries`.
  func place(of key: Key) -> Int? { place(of: key, key.mark) }

  private func place(of key: Key, _ mark: UInt32) -> Int? {
    // Some come again in the order in which they came first.
    if isPlace(last, of: key, mark) { return last }
    if isPlace(last + 1, of: key, mark) { return last + 1 }
    if entries.count > Self.few { return places[key] }
    for place in entries.indices where isPlace(place, of: key, mark) {
      return place
    }
    return nil
  }

  private func isPlace(_ place: Int, of key: Key, _ mark: UInt32) -> Bool {
    place < entries.count && entries[place].mark == mark
      && entries[place].key == key
  }

  /// The content under a key.
  subscript(key: Key) -> Content? {
    place(of: key).map { entries[$0].content }
  }

  /// Whether a key is where it is looked for first.
  private func isNear(_ key: Key, _ mark: UInt32) -> Bool {
    isPlace(last, of: key, mark) || isPlace(last + 1, of: key, mark)
  }

  /// The index of a key in `entries`; a key that is missing is added with
  /// `initial`.
  mutating func intern(
    _ key: Key, default initial: @autoclosure () -> Content
  ) -> Int {
    let mark = key.mark
    if entries.count <= Self.few || isNear(key, mark) {
      if let place = place(of: key, mark) {
        last = place
        return place
      }
      last = entries.count
      entries.append(Entry(key, mark, initial()))
      if entries.count > Self.few {
        for (place, entry) in entries.enumerated() { places[entry.key] = place }
      }
      return last
    }
    // Hashed once, whether the key is missing or not.
    let new = entries.count
    last = { (place: inout Int) in place }(&places[key, default: new])
    if last == new { entries.append(Entry(key, mark, initial())) }
    return last
  }

  /// Changes the content under a key in place; a key that is missing begins
  /// with `initial`.
  mutating func update<Result>(
    _ key: Key, default initial: @autoclosure () -> Content,
    _ change: (inout Content) -> Result
  ) -> Result {
    let place = intern(key, default: initial())
    return change(&entries[place].content)
  }

  /// Removes the keys that came after the first `count`.
  mutating func removeAll(after count: Int) {
    for entry in entries[count...] { places[entry.key] = nil }
    entries.removeSubrange(count...)
    if count <= Self.few { places = [:] }
    last = 0
  }

  /// Changes each content in place, given its place.
  mutating func updateAll(_ change: (Int, inout Content) -> Void) {
    for place in entries.indices { change(place, &entries[place].content) }
  }

  /// Replaces the content under a key.
  mutating func set(_ key: Key, to content: Content) {
    update(key, default: content) { $0 = content }
  }
}

extension RunMap where Key: Comparable {
  /// Whether the keys came in order, as they often do.
  private var isSorted: Bool {
    entries.indices.dropFirst().allSatisfy {
      entries[$0 - 1].key < entries[$0].key
    }
  }

  /// The indices of the entries, sorted by key.
  var order: [Int] {
    isSorted
      ? Array(entries.indices)
      : entries.indices.sorted { entries[$0].key < entries[$1].key }
  }

  /// The entries, sorted by key.
  var sorted: [Entry] { isSorted ? entries : order.map { entries[$0] } }
}
