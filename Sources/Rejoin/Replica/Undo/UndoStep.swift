// SPDX-License-Identifier: Apache-2.0

/// The changes of a save, in the form that an undo needs.
///
/// The ``SaveReport`` of an undoable save contains its step. ``Replica/undo()``
/// undoes the last save. To undo another save, pass its step to
/// ``Replica/undo(_:)``.
///
/// An `UndoStep` is `Codable`. If the app stores it, the user can undo the save
/// after the app starts again. Decoding throws `DecodingError` for content that
/// no save can have. All other steps can be passed to any replica, including
/// one that lacks the save.
public struct UndoStep: Hashable, Sendable {
  /// The smallest unit that a save changes: a field, or one element of a set.
  struct Place: Hashable, Sendable {
    let record: RecordID
    let field: FieldKey
    var element: Value?
  }

  /// A save, and its digest, which distinguishes saves with the same number.
  struct Point: Hashable, Codable, Sendable {
    let dot: Dot
    let digest: UInt64
  }

  /// The change that a save made in a place.
  struct Change: Hashable, Sendable {
    /// The save under whose dot the change is stored: this save, or a later
    /// save that restored the change.
    var save: Point
    /// Whether the change left content in the place, instead of only removing
    /// some.
    var isThere = true
    /// The number of the save's own change of a counter, or of its first entry
    /// in a ledger.
    var position: UInt64 = 0
    /// The content to restore, or `nil` if the place was empty.
    var before: Before?
    /// The write or mark that ``Before`` copies, or `nil` if it stands for
    /// several or for none.
    let superseded: Dot?
    /// The other writes or marks in the place, which the save kept.
    var beside: Set<Dot> = []

    /// The dot of the content that the change left, or `nil` if it left none.
    var dot: Dot? { isThere ? save.dot : nil }
  }

  /// The content of a place that an undo restores.
  enum Before: Hashable, Sendable {
    /// The value that a register showed and its time, or whether an element was
    /// in the set, without a time.
    case value(Value?, at: Timestamp?)
    /// The existence of a record.
    case existence(Existence)
    /// The opposites of the amounts that the save added to a counter or a
    /// ledger, and the decisions that it changed, by device.
    case sums([LedgerEdit.Entry], [DeviceID: Decision])
  }

  /// The change of the decision which changes of a device are canceled.
  struct Decision: Hashable, Sendable {
    /// The decision before the save.
    let before: Cancellation
    /// The decision after the save, and after all later saves that were undone.
    var after: Cancellation
  }

  /// The save, or `nil` if it had no edits.
  package let dot: Dot?
  /// The name for the menu, or `nil` if the replica's history lacks the save.
  package var name: String?
  /// The save that this one undid, or `nil` if it is not an undo.
  var undone: Dot?
  var changes = UndoChanges()
}

extension UndoStep: CustomStringConvertible {
  /// The name, the dot and the number of changes.
  public var description: String {
    let title = name.map { " \"\($0)\"" } ?? ""
    return "undo step\(title) of \(dot.map(\.description) ?? "no save") with "
      + "\(changes.count) changes"
  }
}
