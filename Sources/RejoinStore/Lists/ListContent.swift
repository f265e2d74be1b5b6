// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The elements of a list, which change with the records of a store.
package struct ListContent<Owner: Entity>: Sendable {
  package typealias Element = TypedRecord<Owner>

  /// The records that meet the condition, in the order of the list.
  package private(set) var elements: [Element] = []
  /// For each criterion, the sort values of the elements, or an empty array if the
  /// criterion compares the elements themselves.
  ///
  /// Reading a field costs as much as twenty comparisons.
  private var columns: [[Value?]]
  private let isIncluded: @Sendable (Element) -> Bool
  private let order: ListOrder<Owner>

  /// Creates a list without elements.
  package init(
    _ isIncluded: @escaping @Sendable (Element) -> Bool,
    _ order: ListOrder<Owner>
  ) {
    (self.isIncluded, self.order) = (isIncluded, order)
    columns = order.criteria.map { _ in [] }
  }

  /// Replaces the elements.
  ///
  /// - Parameter records: All records of the entity, sorted by key.
  package mutating func load(_ records: [Element]) {
    self = sorted(records.filter(isIncluded))
  }

  /// Returns the list with other elements.
  ///
  /// - Parameter records: The elements, sorted by key.
  private func sorted(_ records: [Element]) -> ListContent {
    var sorted = ListContent(isIncluded, order)
    sorted.columns = order.criteria.map { criterion in
      guard case .value(let read, _) = criterion else { return [] }
      return records.map { read($0.record) }
    }
    var indices = Array(records.indices)
    // Each criterion keeps the order of equal elements.
    for (column, criterion) in order.criteria.enumerated().reversed() {
      switch criterion {
      case .value(_, let order):
        indices = order.sorted(indices, by: sorted.columns[column])
      case .comparison(let areInIncreasingOrder):
        indices.sort { areInIncreasingOrder(records[$0], records[$1]) }
      }
    }
    sorted.elements = indices.map { records[$0] }
    for column in columns.indices where !sorted.columns[column].isEmpty {
      sorted.columns[column] = indices.map { sorted.columns[column][$0] }
    }
    return sorted
  }

  /// Applies later changes of records.
  ///
  /// - Complexity: O(log *n*) comparisons for each change, and O(*n*) to move
  ///   elements.
  package mutating func apply(_ changes: RecordChanges) {
    apply(changes.changes(to: Owner.self))
  }

  mutating func apply(_ changes: [RecordChanges.TypedChange<Owner>]) {
    // Each change moves elements, and together they move each element once.
    if changes.count > 8 { return applyTogether(changes) }
    for change in changes { apply(change) }
  }
}

// Finding elements.
extension ListContent {
  /// A record with its values for each criterion.
  private struct Entry {
    let element: Element
    let values: [Value?]
  }

  private func measured(_ element: Element) -> Entry {
    let values = order.criteria.map { criterion -> Value? in
      guard case .value(let read, _) = criterion else { return nil }
      return read(element.record)
    }
    return Entry(element: element, values: values)
  }

  /// Compares a record with an element.
  ///
  /// - Returns: A negative number if the record comes before the element.
  private func compare(_ entry: Entry, _ index: Int) -> Int {
    for column in columns.indices {
      let result: Int
      switch order.criteria[column] {
      case .value(_, let order):
        result = order.compare(entry.values[column], columns[column][index])
      case .comparison(let areInIncreasingOrder):
        let other = elements[index]
        result =
          areInIncreasingOrder(entry.element, other)
          ? -1 : areInIncreasingOrder(other, entry.element) ? 1 : 0
      }
      if result != 0 { return result }
    }
    let (id, other) = (entry.element.record.id, elements[index].record.id)
    return id < other ? -1 : id == other ? 0 : 1
  }

  /// Returns the first index in a range whose element does not come before a
  /// record.
  private func position(of entry: Entry, in range: Range<Int>) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if compare(entry, middle) > 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the index of a record in its current state, or `nil` if the list
  /// lacks it.
  private func index(of record: Element) -> Int? {
    let entry = measured(record)
    let index = position(of: entry, in: elements.indices)
    let isFound = index < elements.count && compare(entry, index) == 0
    return isFound ? index : nil
  }
}

// Changing elements.
extension ListContent {
  private mutating func apply(_ change: RecordChanges.TypedChange<Owner>) {
    let old = change.old.flatMap { index(of: $0) }
    guard let new = change.new, isIncluded(new) else {
      if let old { remove(at: old) }
      return
    }
    let entry = measured(new)
    guard let old else {
      return insert(entry, at: position(of: entry, in: elements.indices))
    }
    var target = old
    if old > 0, compare(entry, old - 1) < 0 {
      target = position(of: entry, in: 0..<old)
    } else if old + 1 < elements.count, compare(entry, old + 1) > 0 {
      target = position(of: entry, in: (old + 1)..<elements.count) - 1
    }
    elements.replace(old, with: new, at: target)
    for column in columns.indices where !columns[column].isEmpty {
      columns[column].replace(old, with: entry.values[column], at: target)
    }
  }

  private mutating func remove(at index: Int) {
    elements.remove(at: index)
    for column in columns.indices where !columns[column].isEmpty {
      columns[column].remove(at: index)
    }
  }

  private mutating func insert(_ entry: Entry, at index: Int) {
    elements.insert(entry.element, at: index)
    for (column, criterion) in order.criteria.enumerated() {
      guard case .value = criterion else { continue }
      columns[column].insert(entry.values[column], at: index)
    }
  }

  private mutating func applyTogether(
    _ changes: [RecordChanges.TypedChange<Owner>]
  ) {
    let removed = changes.compactMap { $0.old.flatMap { index(of: $0) } }
    let added = sorted(changes.compactMap(\.new).filter(isIncluded))
    // The elements that come before each added one.
    let positions = added.elements.indices.map { index in
      let values = added.columns.map { $0.isEmpty ? nil : $0[index] }
      return position(
        of: Entry(element: added.elements[index], values: values),
        in: elements.indices)
    }
    elements.merge(added.elements, at: positions, removing: removed)
    for (column, criterion) in order.criteria.enumerated() {
      guard case .value = criterion else { continue }
      columns[column].merge(
        added.columns[column], at: positions, removing: removed)
    }
  }
}

extension Array {
  /// Removes an element, and inserts another one at an index of the result.
  fileprivate mutating func replace(
    _ old: Int, with element: Element, at new: Int
  ) {
    withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      (base + old).deinitialize(count: 1)
      if old < new {
        (base + old).moveInitialize(from: base + old + 1, count: new - old)
      } else if new < old {
        (base + new + 1).moveInitialize(from: base + new, count: old - new)
      }
      (base + new).initialize(to: element)
    }
  }

  /// Inserts elements before the given indices, which are sorted, and removes
  /// others.
  fileprivate mutating func merge(
    _ added: [Element], at positions: [Int], removing removed: [Int]
  ) {
    var result: [Element] = []
    result.reserveCapacity(count + added.count - removed.count)
    var next = 0
    /// Appends the elements that stay.
    func keep(before end: Int) {
      if next < end { result += self[next..<end] }
      next = Swift.max(next, end)
    }
    var gone = removed.sorted()[...]
    for (element, position) in zip(added, positions) {
      while let first = gone.first, first < position {
        keep(before: first)
        next = first + 1
        gone.removeFirst()
      }
      keep(before: position)
      result.append(element)
    }
    for first in gone {
      keep(before: first)
      next = first + 1
    }
    keep(before: count)
    self = result
  }
}

// Sections.
extension ListContent {
  /// Returns the ranges of elements with equal values of the section's criterion,
  /// or one range without sections.
  ///
  /// - Complexity: O(*s* log *n*), where *s* is the number of ranges.
  func sections() -> [(value: Value?, range: Range<Int>)] {
    guard let section = order.section else {
      return elements.isEmpty ? [] : [(nil, elements.indices)]
    }
    let column = columns[section]
    var result: [(value: Value?, range: Range<Int>)] = []
    var start = 0
    while start < column.count {
      let value = column[start]
      var (low, high) = (start, column.count)
      while low + 1 < high {
        let middle = low + (high - low) / 2
        if column[middle] == value { low = middle } else { high = middle }
      }
      result.append((value, start..<high))
      start = high
    }
    return result
  }
}
