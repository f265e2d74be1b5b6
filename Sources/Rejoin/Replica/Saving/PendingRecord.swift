// SPDX-License-Identifier: Apache-2.0

/// The changes that a save makes to one record.
struct PendingRecord {
  /// The record's position in the replica, or `nil` if it is new.
  var position: Int?
  /// The effect on the record's existence, or `nil` if the save does not change
  /// it.
  ///
  /// A save that edits the record keeps it alive without a mark.
  var mark: RecordMark.Kind?
  /// The saves that a deletion covers, or `nil` for the deletion and all saves
  /// of the record.
  var covered: VectorClock?
  /// Whether the deletion cannot be undone.
  var isFinal = false
  /// Whether the observed contents are dropped before the edits.
  ///
  /// A re-creation or a purge drops them. The memory of a pull is dropped
  /// without a mark.
  var drops = false
  /// The states of fields that the author was shown, including existence.
  ///
  /// For every other field, the author sees the state in the replica.
  var observed: [FieldKey: FieldState] = [:]
  /// Whether only the fields in `observed` are dropped.
  var dropsOnlyObserved = false
  /// The changes that an undo takes out, by the number of the field, including
  /// existence.
  ///
  /// The undo does not observe other content of these fields.
  var retractions: [UInt32: Retraction] = [:]
  /// The edit of each field, by number, which combines all verbs of this save.
  ///
  /// ``Transaction/delete(_:)`` keeps the edits. A deletion hides fields
  /// without dropping them, and a concurrent update can show them again.
  private(set) var edits = RunMap<UInt32, FieldEdit>()
  /// Whether an edit could overflow.
  private(set) var canFail = false
  /// An upper bound of the encoded content of the edits, or zero if they only
  /// remove content.
  private(set) var addedBytes = 0

  init(position: Int?, mark: RecordMark.Kind? = nil, drops: Bool = false) {
    (self.position, self.mark, self.drops) = (position, mark, drops)
  }

  /// Whether the save changes a field of the record.
  var changesFields: Bool { !edits.entries.isEmpty || !retractions.isEmpty }

  /// An upper bound of the encoded content that the save adds to the record, or
  /// zero if it only removes content.
  ///
  /// A deletion or another mark does not count as content.
  var byteBound: Int {
    addedBytes == 0 ? 0 : addedBytes + ByteBound.field * edits.entries.count
  }

  /// Returns the edits and the keys of their fields, sorted by key.
  ///
  /// - Parameter names: The field names of the replica.
  func edits(
    named names: FieldNames
  ) -> [(key: FieldKey, edit: FieldEdit)] {
    edits.entries.map { (names[$0.key], $0.content) }.sorted { $0.key < $1.key }
  }

  /// Returns whether the edited fields are sorted by key, as they often are.
  ///
  /// - Parameter names: The field names of the replica.
  func isSorted(by names: FieldNames) -> Bool {
    edits.isSorted { names[$0] < names[$1] }
  }

  /// Creates the record again, for an author who sees all of it.
  ///
  /// - Parameter keepingEdits: Whether the earlier edits stay. They do not stay
  ///   if this save deleted the record after them.
  mutating func createAgain(keepingEdits: Bool = false) {
    if !keepingEdits { self = PendingRecord(position: position) }
    (mark, observed) = (.alive, [:])
    (drops, dropsOnlyObserved) = (true, false)
  }

  /// Drops the fields that a re-creation of another record drops.
  mutating func drop(asIn record: PendingRecord) {
    (drops, observed) = (true, record.observed)
    dropsOnlyObserved = record.dropsOnlyObserved
    observed[.existence] = nil
  }

  /// Marks the record, for an author who sees all of it.
  mutating func write(mark: RecordMark.Kind) {
    (self.mark, covered, observed[.existence]) = (mark, nil, nil)
  }

  /// Deletes the record, for an author who was shown some of its saves.
  ///
  /// - Parameters:
  ///   - existence: The shown existence.
  ///   - seen: The shown saves. The deletion also covers what any earlier verb
  ///     observed.
  mutating func delete(observed existence: FieldState, seen: VectorClock) {
    observe(existence, of: .existence, numbered: nil)
    mark = .deletion
    if observed[.existence] == nil { return covered = nil }
    covered = observed.values.reduce(seen) { $0.merging($1.clock) }
  }

  /// Records the state of a field that the author of a verb observed.
  ///
  /// The save observes everything that any of its verbs observes.
  ///
  /// - Parameters:
  ///   - state: The observed state, or `nil` for the current one.
  ///   - number: The number of the field, or `nil` for existence and for a
  ///     field without edits.
  mutating func observe(
    _ state: FieldState?, of key: FieldKey, numbered number: UInt32?
  ) {
    guard let state else { return observed[key] = nil }
    guard let clock = observed[key]?.clock else {
      // If no state is recorded, an earlier verb of the field saw all of it.
      if !isNamed(key, number) { observed[key] = state }
      return
    }
    if !state.clock.isContained(in: clock) { observed[key]?.merge(state) }
  }

  /// Returns whether a verb of this save changes a field or the record's
  /// existence.
  private func isNamed(_ key: FieldKey, _ number: UInt32?) -> Bool {
    if key == .existence { return mark != nil }
    return number.map { edits.index(of: $0) != nil } ?? false
  }

  /// Combines an edit with the earlier edits of its field.
  ///
  /// - Returns: `false` if a counter's sums would overflow.
  mutating func add(
    _ edit: FieldEdit, to field: UInt32, of kind: FieldKind
  ) -> Bool {
    if kind.mayOverflow { canFail = true }
    addedBytes += edit.byteBound
    return edits.add(edit, under: field) { $0.append(edit) } ?? true
  }
}
