// SPDX-License-Identifier: Apache-2.0

/// The edits of one save.
///
///     try phone.save { transaction in
///       transaction[Profile.self, "ada"].name = "Ada"
///       transaction[Profile.self, "ada"].steps.increment(by: 1200)
///     }
///
/// The transaction collects the edits and applies them under one dot when the
/// closure returns: all of them or none. If the closure throws, nothing
/// changes. Reads within the closure show the edits so far.
public final class Transaction {
  /// The replica, whose records do not change before the commit.
  @usableFromInline package let replica: Replica
  /// The edits so far.
  ///
  /// Each fits the kind of its field, and its values are canonical.
  private(set) var pending = RunMap<RecordID, PendingRecord>()
  /// Whether the save can be undone.
  ///
  /// The default is `false`.
  ///
  /// - Complexity: O(*n*), where *n* is the number of elements of each set that
  ///   the save clears, or drops when it creates a record again, and of entries
  ///   of each ledger that it changes.
  package var isUndoable = false
  /// The name of the save in the replica's history, or `nil` to keep the save
  /// out of the history.
  var undoName: String? {
    didSet { isUndoable = true }
  }
  /// The save that this one undoes, or `nil` if it is not an undo.
  var undone: Dot?
  /// The locations that an undo leaves unchanged.
  var left: [FieldLocation] = []
  /// The origin of the next position, or `nil` before the first one.
  var originOfPositions: Position.Origin?
  /// The first reason to refuse the save.
  private(set) var failure: SaveError?

  init(_ replica: Replica, undoable name: String? = nil) {
    self.replica = replica
    undoName = name
    if name != nil { isUndoable = true }
  }

  /// Returns an editor that creates the record at its first edit if the record
  /// does not exist.
  ///
  /// After a deletion, the new record has only the fields that this save edits.
  /// To edit only a record that exists, use ``existing(_:_:)``.
  ///
  /// - Precondition: The schema declares the entity.
  @inlinable
  public subscript<E: Entity>(
    entity: E.Type, key: String
  ) -> RecordEditor<E> {
    let fields = replica.schema.fields(of: entity)
    return editor(of: key, fields)
  }

  @usableFromInline
  func editor<E: Entity>(
    of key: String, _ fields: DeclaredFields<E>
  ) -> RecordEditor<E> {
    RecordEditor(
      id: RecordID(fields.entityName, key), target: self, fields: fields)
  }

  /// Returns an editor of a record, or `nil` if the record does not exist after
  /// the edits so far.
  ///
  ///     try phone.save { transaction in
  ///       transaction.existing(Item.self, "milk")?.isDone = true
  ///     }
  ///
  /// - Precondition: The schema declares the entity.
  public func existing<E: Entity>(
    _ entity: E.Type, _ key: String
  ) -> RecordEditor<E>? {
    let editor = self[entity, key]
    return exists(editor.id) ? editor : nil
  }

  /// Edits a field, which also creates the record or keeps it alive.
  ///
  /// - Parameters:
  ///   - edit: The edit, which must fit the field's kind.
  ///   - key: The field.
  ///   - id: The record.
  ///   - observed: The field as it was shown to the author, or `nil` if the
  ///     author sees its current state. The edit supersedes only what this
  ///     state has seen. Several edits of one field supersede what any of their
  ///     states has seen. If the state is of another kind, the save throws
  ///     ``SaveError/observedKind(_:field:)``. If the record was purged since,
  ///     it throws ``SaveError/purged(_:)``.
  /// - Precondition: The schema declares the record's entity, and `edit` fits
  ///   the field's kind.
  public func apply(
    _ edit: FieldEdit, to key: FieldKey, of id: RecordID,
    observed: FieldState? = nil
  ) {
    demand(
      edit.kind == key.kind,
      "\(edit) does not fit the field \"\(key.name)\" of \(id): use an edit of "
        + "its kind, \(key.kind)")
    let edit = edit.canonical
    let field = replica.current.names.intern(key)
    if let observed { checkKind(of: observed, as: key, of: id) }
    let fits = pending.update(id, default: fresh(id)) {
      keepAlive(id, &$0, asShown: observed != nil)
      if let observed { refuse(observed, of: key, in: id, asIn: $0) }
      if observed != nil || !$0.observed.isEmpty {
        $0.observe(observed, of: key, numbered: field)
      }
      return $0.add(edit, to: field, of: key.kind)
    }
    if !fits { fail(.counterOverflow(id, field: key.name)) }
  }

  /// Updates the pending changes of a record.
  func change(_ id: RecordID, _ body: (inout PendingRecord) -> Void) {
    pending.update(id, default: untouched(id), body)
  }

  /// Creates a record or keeps it alive, without editing a field.
  ///
  /// A deleted record is created again without contents. To restore its
  /// contents, use ``undelete(_:)``.
  ///
  /// - Precondition: The schema declares the record's entity.
  public func ensureExists(_ id: RecordID) {
    pending.update(id, default: fresh(id)) { keepAlive(id, &$0) }
  }

  /// Keeps a record alive, or creates it again if this save deleted it.
  ///
  /// - Parameter asShown: Whether the author still sees only the marks that an
  ///   earlier verb observed. Otherwise, the author sees all marks.
  @inline(__always)
  private func keepAlive(
    _ id: RecordID, _ record: inout PendingRecord, asShown: Bool = false
  ) {
    if record.mark != .alive {
      record.createAgain()
    } else if !asShown, record.observed[.existence] != nil {
      record.observed[.existence] = nil
      if replica.isDead(id) { record.createAgain(keepingEdits: true) }
    }
  }

  /// Refuses the save if its author was shown a field of a record that was
  /// purged since.
  private func refuse(
    _ observed: FieldState, of key: FieldKey, in id: RecordID,
    asIn record: PendingRecord
  ) {
    // The shown existence was checked, and so it saw the deletions.
    if record.observed[.existence] != nil || !replica.isPurged(id) { return }
    let now = replica.current.state(of: key, in: id)?.clock ?? VectorClock()
    if !now.isContained(in: observed.clock) { fail(.purged(id)) }
  }

  /// Refuses the save if an observed state is not of the field's kind.
  private func checkKind(
    of observed: FieldState, as key: FieldKey, of id: RecordID
  ) {
    if observed.kind != key.kind {
      fail(.observedKind(id, field: key.name))
    }
  }

  /// Returns the initial changes of a record that the save keeps alive.
  private func fresh(_ id: RecordID) -> PendingRecord {
    let rule = checkEntity(of: id)
    checkKey(of: id)
    let position = replica.current.positions[id]
    return PendingRecord(
      position: position, mark: .alive,
      drops: position.map { replica.current.records[$0].isDead(rule) } ?? false)
  }

  /// Returns the initial changes of a record without a mark.
  private func untouched(_ id: RecordID) -> PendingRecord {
    let position = replica.current.positions[id]
    // An undo from elsewhere can name any record.
    if position == nil { checkKey(of: id) }
    return PendingRecord(position: position)
  }

  /// Creates a record or keeps it alive, superseding only the marks that the
  /// author was shown.
  ///
  /// A deletion that was not shown is concurrent with this save. If such a
  /// deletion cannot be undone anymore, and no other edit keeps the record, the
  /// save throws ``SaveError/purged(_:)``. Earlier edits of the save are kept.
  /// If one of them saw all marks, so does the save.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - existence: The marks that were shown.
  ///   - fields: The shown fields to drop if the record is created again, or
  ///     `nil` otherwise.
  public func ensureExists(
    _ id: RecordID, observed existence: FieldState,
    recreatingWith fields: [FieldKey: FieldState]?
  ) {
    checkEntity(of: id)
    checkKey(of: id)
    checkKind(of: existence, as: .existence, of: id)
    // Without a re-creation, the save restores what it does not edit.
    if replica.isPurged(id),
      fields == nil || replica.isPurged(id, since: existence)
    {
      fail(.purged(id))
    }
    for (key, state) in fields ?? [:] { checkKind(of: state, as: key, of: id) }
    change(id) { record in
      if record.mark == .deletion { record.createAgain() }
      record.observe(existence, of: .existence, numbered: nil)
      record.mark = .alive
      guard let fields else { return }
      // An earlier re-creation that saw the whole record drops every field that
      // no verb observed.
      let dropsRest = record.drops && !record.dropsOnlyObserved
      if !dropsRest { (record.drops, record.dropsOnlyObserved) = (true, true) }
      for (key, state) in fields where key != .existence {
        if dropsRest, record.observed[key] == nil { continue }
        record.observe(
          state, of: key, numbered: replica.current.names.number(of: key))
      }
    }
  }

  /// Deletes a record.
  ///
  /// If the record does not exist, nothing changes.
  ///
  /// - Precondition: The schema declares the record's entity.
  public func delete(_ id: RecordID) {
    checkEntity(of: id)
    guard exists(id) else { return }
    change(id) { $0.write(mark: .deletion) }
  }

  /// Deletes a record as it was shown to the author.
  ///
  /// An edit that was not shown is concurrent with the deletion. Earlier edits
  /// of the save are kept and hidden. If one of them saw the whole record, so
  /// does the save.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - existence: The shown marks, which the deletion supersedes.
  ///   - seen: The shown saves of the record, which the deletion covers.
  public func delete(
    _ id: RecordID, observed existence: FieldState, seen: VectorClock
  ) {
    checkEntity(of: id)
    checkKind(of: existence, as: .existence, of: id)
    guard exists(id) else { return }
    change(id) { $0.delete(observed: existence, seen: seen) }
  }

  /// Restores a deleted record with its contents.
  ///
  /// A record that exists is kept alive. A record that never existed is not
  /// created. Once a purge announced to drop the contents, the save throws
  /// ``SaveError/purged(_:)``.
  ///
  /// - Precondition: The schema declares the record's entity.
  public func undelete(_ id: RecordID) {
    checkEntity(of: id)
    if exists(id) { return ensureExists(id) }
    guard isDead(id) else { return }
    // A record that this save deleted still has its contents.
    if pending[id] == nil, replica.isPurged(id) { return fail(.purged(id)) }
    change(id) { $0.write(mark: .alive) }
  }

  /// Announces that a purge will drop the contents of a dead record, or drops
  /// them.
  func purge(_ id: RecordID, _ mark: RecordMark.Kind) {
    change(id) {
      $0.write(mark: mark)
      $0.drops = mark == .purge
    }
  }

  /// Returns the deletion rule of a record's entity, which must be declared.
  @discardableResult
  private func checkEntity(of id: RecordID) -> DeletionRule {
    demand(
      id.entity.utf8.count <= Limits.nameBytes,
      "the entity \"\(id.entity)\" has a name of \(id.entity.utf8.count) "
        + "bytes: use at most \(Limits.nameBytes)")
    return replica.schema.requireEntity(named: id.entity)
  }

  /// Refuses the save if a key is empty or too long.
  @inline(__always)
  private func checkKey(of id: RecordID) {
    if let error = SaveError(refusing: id) { fail(error) }
  }

  /// Returns whether the record exists after the edits so far.
  private func exists(_ id: RecordID) -> Bool {
    pending[id]?.mark.map { $0 == .alive } ?? replica.exists(id)
  }

  /// Returns whether the record is deleted after the edits so far.
  private func isDead(_ id: RecordID) -> Bool {
    pending[id]?.mark.map { $0 != .alive } ?? replica.isDead(id)
  }

  /// Refuses the save with an error, unless an earlier error did so.
  func fail(_ error: SaveError) {
    failure = failure ?? error
  }

  /// Returns the edit of a field so far, or `nil` if a later verb deleted the
  /// record.
  func edit(of key: FieldKey, in id: RecordID) -> FieldEdit? {
    guard let record = pending[id], record.mark != .deletion,
      let field = replica.current.names.number(of: key)
    else { return nil }
    return record.edits[field]
  }

  /// Returns whether this save hides the contents of a record in the replica,
  /// because it deletes the record or creates it again.
  func hides(_ id: RecordID) -> Bool {
    pending[id].map { $0.drops || $0.mark == .deletion } ?? false
  }
}

extension Transaction: EditTarget {
  package func perform(
    _ edit: FieldEdit, on key: FieldKey, of id: RecordID
  ) {
    apply(edit, to: key, of: id)
  }

  package var form: (any EditForm)? { nil }

  package func edited(_ key: FieldKey, of id: RecordID) -> EditedField {
    let edit = edit(of: key, in: id)
    guard let record = shown(id) else {
      return EditedField(FieldState(key.kind), edit)
    }
    // Asking for each reference avoids a search through all of them.
    return EditedField(record[key], edit, showing: replica.exists)
  }

  package func hidden(_ key: FieldKey, of id: RecordID) -> FieldState {
    let field = shown(id) == nil ? replica.current.state(of: key, in: id) : nil
    return field ?? FieldState(key.kind)
  }

  /// Returns a record in the replica, or `nil` if it does not exist after the
  /// edits so far, or only without its contents.
  private func shown(_ id: RecordID) -> Record? {
    if hides(id) { return nil }
    let record = replica.recordForEditing(id)
    // A deleted record that this save undeletes is shown with its contents.
    return record.exists || pending[id]?.mark == .alive ? record : nil
  }
}

extension Transaction {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that every edit fits its field and is canonical, and that every
    /// drop is marked.
    func _checkInvariants() {
      for (id, record) in pending.entries.map({ ($0.key, $0.content) }) {
        for (field, edit) in record.edits.entries.map({ ($0.key, $0.content) })
        {
          let key = replica.current.names[field]
          precondition(
            edit.kind == key.kind && edit == edit.canonical,
            "the edit of \(key) of \(id) does not fit, or is not canonical")
        }
        precondition(
          !record.drops || record.mark != nil || id.entity == BuiltIn.pulled,
          "the contents of \(id) are dropped without a mark")
        precondition(
          record.retractions.isEmpty || !record.drops,
          "an undo drops the contents of \(id)")
      }
    }
  #else
    func _checkInvariants() {}
  #endif
}
