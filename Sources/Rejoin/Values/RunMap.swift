// SPDX-License-Identifier: Apache-2.0

/// A map for keys that come in runs: it looks first where it looked last.
///
/// A save edits one record after the other and may name a field several times.
/// Few keys are compared one by one, without being hashed.
struct RunMap<Key: Hashable, Content> {
  typealias Entry = (key: Key, content: Content)

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

  private func place(of key: Key) -> Int? {
    if last < entries.count, entries[last].key == key { return last }
    if entries.count > Self.few { return places[key] }
    return entries.firstIndex { $0.key == key }
  }

  /// The content under a key.
  subscript(key: Key) -> Content? {
    place(of: key).map { entries[$0].content }
  }

  /// Changes the content under a key in place; a key that is missing begins
  /// with `initial`.
  mutating func update<Result>(
    _ key: Key, default initial: @autoclosure () -> Content,
    _ change: (inout Content) -> Result
  ) -> Result {
    if let place = place(of: key) {
      last = place
      return change(&entries[place].content)
    }
    last = entries.count
    entries.append((key, initial()))
    if entries.count > Self.few {
      // All of them when there stop being few, and then one at a time.
      for place in places.count..<entries.count {
        places[entries[place].key] = place
      }
    }
    return change(&entries[last].content)
  }

  /// Replaces the content under a key.
  mutating func set(_ key: Key, to content: Content) {
    update(key, default: content) { $0 = content }
  }
}

extension RunMap where Key: Comparable {
  /// The entries, sorted by key.
  var sorted: [Entry] {
    // Often they came in order.
    let isSorted = zip(entries, entries.dropFirst())
      .allSatisfy { $0.key < $1.key }
    return isSorted ? entries : entries.sorted { $0.key < $1.key }
  }
}
