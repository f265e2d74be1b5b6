// SPDX-License-Identifier: Apache-2.0

/// The changes of a save, in the form that an undo needs.
///
/// The ``SaveReport`` of an undoable save contains its step. ``Replica/undo()``
/// undoes the last save. To undo another save, pass its step to
/// ``Replica/undo(_:)``.
///
/// An `UndoStep` is `Codable`. If the app stores it, the user can undo the save
/// after the app starts again. Any step can be passed to any replica, including
/// one that lacks the save. An undo leaves changes that the save cannot have
/// made.
public struct UndoStep: Hashable, Codable, Sendable {
  /// The save, or `nil` if it had no edits.
  package let dot: Dot?
  /// The name for the menu, or `nil` if the replica's history lacks the save.
  package var name: String?
  /// The save that this one undid, or `nil` if it is not an undo.
  var undone: Dot?
  /// The changes, sorted by location except in a forged step.
  var changes: [Change] = []
}

extension UndoStep {
  /// The smallest unit that a save changes: the existence of a record, a field,
  /// or one element of a set.
  struct Location: Hashable, Codable, Sendable {
    let record: RecordID
    /// The field, or `nil` for the existence of the record.
    let field: FieldKey?
    var element: Value?

    /// The key of the field.
    var key: FieldKey { field ?? .existence }
  }

  /// A save, and its digest, which distinguishes saves with the same number.
  struct Point: Hashable, Codable, Sendable {
    let dot: Dot
    let digest: UInt64
  }

  /// The change that a save made in a location.
  struct Change: Hashable, Codable, Sendable {
    let location: Location
    /// The save under whose dot the change is stored: this save, or a later
    /// save that restored the change.
    var save: Point
    var content: Content
  }

  /// The content of a change, by the kind of the field.
  enum Content: Hashable, Codable, Sendable {
    case writes(Writes)
    case sums(Sums)
    case existence(Existence)
  }

  /// A change of a register or an element.
  struct Writes: Hashable, Codable, Sendable {
    /// Whether the change left a write or a mark, instead of only removing
    /// some.
    let isThere: Bool
    /// The content to restore, or `nil` if the save superseded none.
    let before: Before?
    /// The dots of the other writes or marks, which the save kept, sorted.
    let others: [Dot]
  }

  /// The content that a save superseded.
  struct Before: Hashable, Codable, Sendable {
    /// The value that a register showed, or whether the element was in the set.
    let value: Value?
    /// The time of the write, or `nil` for marks.
    let time: Timestamp?
    /// The shown write or the only mark, or `nil` for several marks or for
    /// none.
    let dot: Dot?
  }

  /// A change of a counter or a ledger.
  struct Sums: Hashable, Codable, Sendable {
    /// The number of the save's own change of a counter, or of its first entry
    /// in a ledger.
    let first: UInt64
    /// The opposites of the amounts that the save added.
    let amounts: [Amount]
    /// The decisions that the save changed, sorted by device.
    var decisions: [Decision]
  }

  /// An amount, and its memo in a ledger.
  struct Amount: Hashable, Codable, Sendable {
    let amount: Int64
    let memo: Value?
  }

  /// The change of the decision which changes of a device are canceled.
  struct Decision: Hashable, Codable, Sendable {
    let device: DeviceID
    /// The decision before the save, or `nil` without one.
    let before: Cancellation?
    /// The decision after the save, and after all later saves that were undone.
    var after: Cancellation
  }
}

extension UndoStep.Location: Comparable {
  static func < (a: UndoStep.Location, b: UndoStep.Location) -> Bool {
    if a.record != b.record { return a.record < b.record }
    if a.field != b.field { return a.key < b.key }
    return a.element.isBefore(b.element)
  }
}

extension UndoStep.Change {
  /// The dot of the content that the change left, or `nil` if it left none.
  var dot: Dot? {
    if case .writes(let writes) = content, !writes.isThere { return nil }
    return save.dot
  }

  /// Returns whether restoring the superseded content restores `earlier`.
  func supersedes(_ earlier: Self) -> Bool {
    guard let dot = earlier.dot else { return false }
    return switch content {
    case .writes(let writes): writes.before?.dot == dot
    case .existence(let existence): existence.superseded == dot
    case .sums: false
    }
  }

  /// Whether the content fits the field.
  ///
  /// It may not fit in a step that the app decodes.
  var isOfField: Bool {
    guard let kind = location.field?.kind else {
      if case .existence = content { return location.element == nil }
      return false
    }
    if kind.store.hasElements != (location.element != nil) { return false }
    return switch (kind, content) {
    case (.register, .writes), (.set, .writes): true
    case (.counter, .sums), (.ledger, .sums): true
    default: false
    }
  }
}

extension [UndoStep.Change] {
  /// Returns the index of the change in a location, or `nil` if the save did
  /// not change it.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of changes.
  func index(of location: UndoStep.Location) -> Int? {
    let i = partitioningIndex { !($0.location < location) }
    return i < count && self[i].location == location ? i : nil
  }
}

extension UndoStep: CustomStringConvertible {
  /// The name, the dot and the number of changes.
  public var description: String {
    let title = name.map { " \"\($0)\"" } ?? ""
    return "undo step\(title) of \(dot.map(\.description) ?? "no save") with "
      + "\(changes.count) changes"
  }
}
