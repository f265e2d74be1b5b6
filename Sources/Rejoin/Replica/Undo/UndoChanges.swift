// SPDX-License-Identifier: Apache-2.0

/// The changes of a save by place, sorted by record, field and element.
///
/// A save makes them in order, and most readers need all of them in order.
struct UndoChanges: Hashable, Sendable {
  /// The places.
  ///
  /// Sorted. No two are equal.
  private(set) var keys: [UndoStep.Place] = []
  /// The change in each place.
  private(set) var values: [UndoStep.Change] = []

  var isEmpty: Bool { keys.isEmpty }
  var count: Int { keys.count }

  /// Makes room for a number of changes.
  mutating func reserve(_ count: Int) {
    keys.reserveCapacity(count)
    values.reserveCapacity(count)
  }

  /// Adds a change after all others.
  mutating func append(_ change: UndoStep.Change, at place: UndoStep.Place) {
    keys.append(place)
    values.append(change)
  }

  /// Sorts changes that were added in another order.
  mutating func sort() {
    let isSorted = zip(keys, keys.dropFirst()).allSatisfy(<)
    if !isSorted {
      let order = keys.indices.sorted { keys[$0] < keys[$1] }
      (keys, values) = (order.map { keys[$0] }, order.map { values[$0] })
    }
    _checkInvariants()
  }

  /// The change in a place.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of changes. To add or
  ///   remove a change takes O(*n*).
  subscript(place: UndoStep.Place) -> UndoStep.Change? {
    get {
      let (i, isFound) = position(of: place)
      return isFound ? values[i] : nil
    }
    set {
      let (i, isFound) = position(of: place)
      switch (newValue, isFound) {
      case (let change?, true): values[i] = change
      case (let change?, false):
        keys.insert(place, at: i)
        values.insert(change, at: i)
      case (nil, true):
        keys.remove(at: i)
        values.remove(at: i)
      case (nil, false): break
      }
      _checkInvariants()
    }
  }

  /// Returns the index of a place, or of the first place after it.
  private func position(of place: UndoStep.Place) -> (Int, isFound: Bool) {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < place { low = middle + 1 } else { high = middle }
    }
    return (low, low < keys.count && keys[low] == place)
  }

  /// Traps in checked builds unless the places are sorted.
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        keys.count == values.count && zip(keys, keys.dropFirst()).allSatisfy(<),
        "the changes of an undo step are not sorted")
    #endif
  }
}

extension UndoChanges: Sequence {
  func makeIterator()
    -> Zip2Sequence<[UndoStep.Place], [UndoStep.Change]>.Iterator
  {
    zip(keys, values).makeIterator()
  }
}

extension UndoStep.Place: Comparable {
  static func < (a: UndoStep.Place, b: UndoStep.Place) -> Bool {
    if a.record != b.record { return a.record < b.record }
    if a.field != b.field { return a.field < b.field }
    return a.element.isBefore(b.element)
  }
}
