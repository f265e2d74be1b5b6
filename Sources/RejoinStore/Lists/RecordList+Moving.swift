// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin

extension RecordList {
  /// Moves records of a list that sorts them by position.
  ///
  ///     ForEach(list.elements) { Text($0.title ?? "") }
  ///       .onMove { source, destination in
  ///         Task {
  ///           try await list.move(
  ///             fromOffsets: source, toOffset: destination, by: \.position)
  ///         }
  ///       }
  ///
  /// The records are moved in one save, and stay together. Deleted records and offsets that
  /// the list no longer has are left out. If the list has a condition, the records can be
  /// before or after hidden ones. Records without a position are at the end. If some are
  /// before the destination, the save gives them positions. It also does so for records
  /// behind the destination that have the position of the one before it.
  ///
  /// - Parameters:
  ///   - source: The offsets of the records in the list, or in the section.
  ///   - destination: The offset of the record before which they move, or the number of
  ///     records.
  ///   - section: The section, or `nil`, the default, for the whole list.
  ///   - field: The field by which the list or the section is sorted, forward.
  ///   - name: The name of the move for `undo()`, or `nil`, the default, if it cannot be
  ///     undone.
  /// - Throws: ``StoreError``, or `SaveError.positionTooLong`. If an error is thrown, nothing
  ///   is moved.
  /// - Precondition: `destination` is not negative.
  public func move(
    fromOffsets source: IndexSet, toOffset destination: Int,
    in section: Section? = nil,
    by field: KeyPath<Owner, Field<Owner, MVRegister<Position>>>,
    undoable name: String? = nil
  ) async throws {
    let shown = section?.elements ?? elements[...]
    demand(destination >= 0, "`destination` must not be negative.")
    guard let store else { throw StoreError.closed }
    let move = ListMove(
      shown: shown, source: source.filteredIndexSet { $0 < shown.count },
      destination: min(destination, shown.count),
      field: Owner()[keyPath: field])
    if move.changesOrder {
      try await store.save(undoable: name) { move.perform(in: $0) }
    }
  }
}

/// A move of records between others that a list shows.
private struct ListMove<Owner: Entity>: Sendable {
  let shown: ArraySlice<TypedRecord<Owner>>
  let source: IndexSet
  let destination: Int
  let field: Field<Owner, MVRegister<Position>>

  var changesOrder: Bool {
    let isAtDestination =
      source.rangeView.count == 1
      && source.rangeView.allSatisfy {
        $0.lowerBound <= destination && destination <= $0.upperBound
      }
    return !source.isEmpty && !isAtDestination
  }

  func perform(in transaction: Transaction) {
    var left: Position?
    // Without a position, a record is behind all others.
    var moved: [Int] = []
    for offset in (0..<destination).reversed() where !source.contains(offset) {
      left = position(at: offset, transaction)
      if left != nil { break }
      moved.insert(offset, at: 0)
    }
    moved += source
    var right: Position?
    for offset in destination..<shown.count where !source.contains(offset) {
      guard let next = position(at: offset, transaction) else { continue }
      if let left, next < left { continue }
      right = next
      if next != left { break }
      // Nothing fits between equal positions, which copies of a device and imports make.
      moved.append(offset)
    }
    transaction.move(
      moved.map(key), by: field, between: left, and: right)
  }

  private func key(at offset: Int) -> String {
    shown[shown.startIndex + offset].id
  }

  /// Returns the current position of a record, or the shown one if it is deleted.
  private func position(
    at offset: Int, _ transaction: Transaction
  ) -> Position? {
    let record = shown[shown.startIndex + offset]
    let current = transaction.existing(Owner.self, record.id)
    return current.map { MVRegister.read(field, in: $0) }
      ?? MVRegister.read(field, of: record.record)
  }
}
