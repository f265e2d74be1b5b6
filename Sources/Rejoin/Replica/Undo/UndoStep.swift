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
    /// The number of a counter's change among those of its device, or of the
    /// first entry in a ledger.
    var position: UInt64 = 0
    /// The content to restore, or `nil` if the place was empty.
    var before: Before?
    /// The content that the save removed.
    let superseded: Superseded
    /// The other writes or marks in the place, which the save kept.
    var beside: Set<Dot> = []
    /// The last cancelled change of each device in a counter or a ledger, after
    /// this save and all later saves that were undone.
    var cancelled = VectorClock()

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
    /// ledger, and the sums that it cancelled, by device.
    ///
    /// The sum of any of the cancelled numbers is in the range of ``WideInt``.
    case sums([LedgerEdit.Entry], cancelled: [DeviceID: WideInt])
  }

  /// The content of a place that a save removed.
  enum Superseded: Hashable, Sendable {
    /// The write or mark that ``Before`` copies, or `nil` if ``Before`` stands
    /// for several or for none.
    case dot(Dot?)
    /// The last change of a counter or entry of a ledger, by device, that was
    /// cancelled before the save, and after it.
    case sums(cancelled: VectorClock, all: VectorClock)

    /// Returns whether restoring the removed content restores `change`.
    func contains(_ change: Change) -> Bool {
      guard let dot = change.dot else { return false }
      switch self {
      case .dot(let only): return dot == only
      case .sums(let cancelled, let all):
        let position = Dot(dot.device, change.position)
        return all.contains(position) && !cancelled.contains(position)
      }
    }
  }

  /// The save, or `nil` if it had no edits.
  package let dot: Dot?
  /// The name for the menu, or `nil` if the replica's history lacks the save.
  package var name: String?
  /// The save that this one undid, or `nil` if it is not an undo.
  var undone: Dot?
  var changes: [Place: Change] = [:]
}
