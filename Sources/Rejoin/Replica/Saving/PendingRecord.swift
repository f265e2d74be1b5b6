// SPDX-License-Identifier: Apache-2.0

/// The edits that a save makes of one record.
struct PendingRecord {
  /// The record's position in the replica, or `nil` if it is new.
  let position: Int?
  /// Whether the record exists after the save, or `nil` if the save leaves its
  /// existence alone.
  ///
  /// A save writes a mark if it deletes the record, or keeps it alive without an
  /// edit.
  var mark: Bool?
  /// The saves that a deletion covers, or `nil` for itself and all saves of the
  /// record.
  var covered: VectorClock?
  /// Whether the deletion is marked as a purge even if it drops nothing.
  var isPurge = false
  /// Whether the observed contents are dropped before the edits.
  ///
  /// A re-creation (`mark` is true) or a purge (`mark` is false) drops them. The
  /// memory of a pull is dropped without a mark.
  var drops = false
  /// The states that the author was shown of some fields, existence included.
  ///
  /// The author sees every other field as it is in the replica.
  var observed: [FieldKey: FieldState] = [:]
  /// Whether dropping leaves the fields that are not in `observed`.
  var dropsOnlyObserved = false
  /// The changes that an undo takes out of some fields, existence included, by
  /// the numbers of the fields.
  ///
  /// The undo observes nothing else there.
  var retractions: [UInt32: Retraction] = [:]
  /// One edit for the number of each field: all its verbs in this save, combined.
  ///
  /// ``Transaction/delete(_:)`` keeps them, since a deletion hides fields and
  /// does not drop them: a concurrent update can show them again.
  private(set) var edits = RunMap<UInt32, FieldEdit>()
  /// Whether an edit could overflow.
  private(set) var canFail = false

  init(position: Int?, mark: Bool? = nil, drops: Bool = false) {
    (self.position, self.mark, self.drops) = (position, mark, drops)
  }

  /// Whether the save changes a field of the record.
  var changesFields: Bool { !edits.entries.isEmpty || !retractions.isEmpty }

  /// The edits and the keys of their fields, sorted.
  ///
  /// - Parameter names: Those of the replica that the save is of.
  func edits(
    named names: FieldNames
  ) -> [(key: FieldKey, edit: FieldEdit)] {
    edits.entries.map { (names[$0.key], $0.content) }.sorted { $0.key < $1.key }
  }

  /// Creates the record again, as an author who has seen all of it.
  ///
  /// - Parameter keepingEdits: Whether the earlier edits stay. If this save
  ///   deleted the record after them, they do not.
  mutating func createAgain(keepingEdits: Bool = false) {
    if !keepingEdits { self = PendingRecord(position: position) }
    (mark, observed) = (true, [:])
    (drops, dropsOnlyObserved) = (true, false)
  }

  /// Drops the fields that a re-creation of another record drops.
  mutating func drop(asIn record: PendingRecord) {
    (drops, observed) = (true, record.observed)
    dropsOnlyObserved = record.dropsOnlyObserved
    observed[.existence] = nil
  }

  /// Marks the record, as an author who has seen all of it.
  mutating func write(mark: Bool) {
    (self.mark, covered, observed[.existence]) = (mark, nil, nil)
  }

  /// Deletes the record, as an author who was shown some of its saves.
  ///
  /// - Parameters:
  ///   - existence: The shown existence.
  ///   - seen: The shown saves. The deletion also covers what any earlier verb
  ///     observed.
  mutating func delete(observed existence: FieldState, seen: VectorClock) {
    observe(existence, of: .existence, numbered: nil)
    mark = false
    if observed[.existence] == nil { return covered = nil }
    covered = observed.values.reduce(seen) { $0.merging($1.clock) }
  }

  /// Notes the state of a field that the author of a verb observed.
  ///
  /// The save observes everything that any of its verbs observes.
  ///
  /// - Parameters:
  ///   - state: The observed state, or `nil` for the current one.
  ///   - number: The number of the field, or `nil` for existence and for a field
  ///     without edits.
  mutating func observe(
    _ state: FieldState?, of key: FieldKey, numbered number: UInt32?
  ) {
    guard let state else { return observed[key] = nil }
    guard let clock = observed[key]?.clock else {
      // Without a state here, an earlier verb of the field saw all of it.
      if !isNamed(key, number) { observed[key] = state }
      return
    }
    if !state.clock.isContained(in: clock) { observed[key]?.merge(state) }
  }

  /// Whether a verb of this save changes a field or the existence of the record.
  private func isNamed(_ key: FieldKey, _ number: UInt32?) -> Bool {
    if key == .existence { return mark != nil }
    return number.map { edits.place(of: $0) != nil } ?? false
  }

  /// Combines an edit with the earlier ones of its field.
  ///
  /// - Returns: `false` if a counter's sums would overflow.
  mutating func add(
    _ edit: FieldEdit, to field: UInt32, of kind: FieldKind
  ) -> Bool {
    if kind.mayOverflow { canFail = true }
    guard edits.place(of: field) != nil else {
      edits.set(field, to: edit)
      return true
    }
    return edits.update(field, default: edit) { $0.append(edit) }
  }
}
