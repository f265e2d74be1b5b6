// SPDX-License-Identifier: Apache-2.0

/// What it takes to undo a save, as far as the save has changed anything.
///
/// A ``SaveReport`` has it if the save was undoable. ``Replica/undo()`` undoes the last
/// one. To undo another, pass it to ``Replica/undo(_:)``.
///
/// A `UndoStep` is `Codable`. If the app stores it, the user can undo the save after
/// the app starts again. Decoding throws `DecodingError` for content that no save
/// has. Any other undo can be passed to any replica, including one that lacks the
/// save.
public struct UndoStep: Hashable, Sendable {
  /// What a save changes at once: a field, or one element of a set.
  struct Place: Hashable, Sendable {
    let record: RecordID
    let field: FieldKey
    var element: Value?
  }

  /// A save, and the digest that tells it from another of the same number.
  struct Point: Hashable, Codable, Sendable {
    let dot: Dot
    let digest: UInt64
  }

  /// What a save has changed in a place.
  struct Change: Hashable, Sendable {
    /// The save under which the change is: this one, or one that has brought it back
    /// since.
    var save: Point
    /// Whether there is anything of it; not if it has only taken something away.
    var isThere = true
    /// The number of the change of a counter among those of its device, or of the
    /// first entry in a ledger.
    var position: UInt64 = 0
    /// What brings back what was there; `nil` if nothing was.
    var before: Before?
    /// What is no longer there.
    let superseded: Superseded
    /// The writes or marks beside it, which the save has left.
    var beside: Set<Dot> = []
    /// Of a counter or a ledger, how much is cancelled of each device after this save
    /// and those that have been undone since.
    var cancelled = VectorClock()

    /// The dot under which the change is.
    var dot: Dot? { isThere ? save.dot : nil }
  }

  /// What brings back what was in a place.
  enum Before: Hashable, Sendable {
    /// The value that a register showed and its time, or whether an element was in
    /// the set, without a time.
    case value(Value?, at: Timestamp?)
    /// The existence of a record.
    case existence(Existence)
    /// The opposites of what was added to a counter or a ledger, and what was
    /// cancelled of each device.
    ///
    /// The sum of any of the cancelled numbers is in the range of `WideInt`.
    case sums([LedgerEdit.Entry], cancelled: [DeviceID: WideInt])
  }

  /// What is no longer in a place after a save.
  enum Superseded: Hashable, Sendable {
    /// The write or mark of which ``Before`` is a copy; `nil` if it speaks for
    /// several, or for none.
    case dot(Dot?)
    /// The changes of a counter, or entries of a ledger, of which the first have
    /// been cancelled before.
    case sums(cancelled: VectorClock, all: VectorClock)

    /// Whether bringing back what was there brings back a change.
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

  /// The save; `nil` if there was nothing to save.
  package let dot: Dot?
  /// The name for the menu, or `nil` if the history of the replica lacks the save.
  package var name: String?
  /// The save that this one has undone, if any.
  var undone: Dot?
  /// What the save has changed.
  var changes: [Place: Change] = [:]
}
