// SPDX-License-Identifier: Apache-2.0

/// A map for keys that come in runs: it looks first where it looked last.
///
/// A save edits one record after the other and may name a field several times.
/// Few keys are compared one by one, without being hashed.
struct RunMap<Key: Hashable & Sendable, Content: Sendable>: Sendable {
  struct Entry: Sendable {
    let key: Key
    var content: Content
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
  func place(of key: Key) -> Int? {
    // Some come again in the order in which they came first.
    if last < entries.count, entries[last].key == key { return last }
    let next = last + 1
    if next < entries.count, entries[next].key == key { return next }
    if entries.count > Self.few { return places[key] }
    return entries.firstIndex { $0.key == key }
  }

  /// The content under a key.
  subscript(key: Key) -> Content? {
    place(of: key).map { entries[$0].content }
  }

  /// Whether a key is where it is looked for first.
  private func isNear(_ key: Key) -> Bool {
    last < entries.count && entries[last].key == key
      || last + 1 < entries.count && entries[last + 1].key == key
  }

  /// The index of a key in `entries`; a key that is missing is added with
  /// `initial`.
  mutating func intern(
    _ key: Key, default initial: @autoclosure () -> Content
  ) -> Int {
    if entries.count <= Self.few || isNear(key) {
      if let place = place(of: key) {
        last = place
        return place
      }
      last = entries.count
      entries.append(Entry(key: key, content: initial()))
      if entries.count > Self.few {
        for (place, entry) in entries.enumerated() { places[entry.key] = place }
      }
      return last
    }
    // Hashed once, whether the key is missing or not.
    let new = entries.count
    last = { (place: inout Int) in place }(&places[key, default: new])
    if last == new { entries.append(Entry(key: key, content: initial())) }
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
