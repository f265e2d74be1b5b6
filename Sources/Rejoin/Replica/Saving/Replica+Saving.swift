// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Saves the edits of `body` under one dot.
  ///
  ///     try phone.save { $0[Profile.self, "ada"].name = "Ada" }
  ///
  /// - Parameters:
  ///   - name: The name for the menu if ``undo()`` can undo the save, or `nil`,
  ///     the default. An undoable save also reads the content that it replaces:
  ///     O(*n*), where *n* is the number of elements of each set that it clears
  ///     and of entries of each ledger that it changes.
  ///   - body: A closure that makes the edits.
  /// - Returns: The report of the save. Its dot is `nil` if there were no
  ///   edits.
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: The cost of the edits, regardless of the size of the
  ///   replica.
  @discardableResult
  public func save(
    undoable name: String? = nil, _ body: (Transaction) -> Void
  ) throws(SaveError) -> SaveReport {
    let transaction = Transaction(self, undoable: name)
    body(transaction)
    return try commit(transaction)
  }

  /// Saves the edits of `body` under one dot, and returns its value.
  ///
  ///     let steps = try phone.save { transaction in
  ///       transaction[Profile.self, "ada"].steps.increment(by: 10)
  ///       return transaction[Profile.self, "ada"].steps.value
  ///     }.value
  ///
  /// - Returns: The result of `body`, and the report of the save.
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  @discardableResult
  public func save<Value>(
    undoable name: String? = nil, _ body: (Transaction) -> Value
  ) throws(SaveError) -> (value: Value, report: SaveReport) {
    let transaction = Transaction(self, undoable: name)
    let value = body(transaction)
    return (value, try commit(transaction))
  }

  /// Saves the edits of `body` under one dot, unless it throws.
  ///
  /// - Throws: The error of `body`, or ``SaveError``. If an error is thrown,
  ///   the replica is unchanged.
  @discardableResult
  public func save(
    undoable name: String? = nil, _ body: (Transaction) throws -> Void
  ) throws -> SaveReport {
    let transaction = Transaction(self, undoable: name)
    try body(transaction)
    return try commit(transaction)
  }

  /// Saves the edits of `body` under one dot, unless it throws, and returns its
  /// value.
  ///
  /// - Returns: The result of `body`, and the report of the save.
  /// - Throws: The error of `body`, or ``SaveError``. If an error is thrown,
  ///   the replica is unchanged.
  @discardableResult
  public func save<Value>(
    undoable name: String? = nil, _ body: (Transaction) throws -> Value
  ) throws -> (value: Value, report: SaveReport) {
    let transaction = Transaction(self, undoable: name)
    let value = try body(transaction)
    return (value, try commit(transaction))
  }

  /// Commits a transaction, and records how to undo it if it is undoable.
  func commit(_ transaction: Transaction) throws(SaveError) -> SaveReport {
    transaction.forgetPulls()
    return transaction.isUndoable
      ? try commitUndoable(transaction) : try execute(transaction)
  }

  /// Commits a transaction.
  ///
  /// Errors are detected first, on copies. No record changes before the call of
  /// the other `commit`.
  func execute(_ transaction: Transaction) throws(SaveError) -> SaveReport {
    transaction._checkInvariants()
    if let failure = transaction.failure { throw failure }
    if let origin = transaction.originOfPositions { check(origin) }
    guard !transaction.pending.isEmpty else { return SaveReport() }
    let device = try deviceToSave(transaction)
    let old = current.identity.deviceToRetire(
      inSaveBy: device, at: current.version)
    if let old { transaction.retire(old) }
    guard current.version[device].sequence < .max else {
      throw .numbersExhausted(device)
    }
    var hybrid = current.hybrid
    let time: Timestamp
    do { time = try hybrid.tick(now: wallClock.now) } catch {
      throw .clockExhausted
    }
    let dot = Dot(device, current.version[device].sequence + 1)
    // Sort the records, so the digest of a save depends only on its edits.
    let records = transaction.pending.entries
    let order = RecordOrder.indices(records.count) { records[$0].key }
    for i in records.indices {
      let index = order.map { Int($0[i]) } ?? i
      if records[index].content.canFail {
        try check(records[index].content, of: records[index].key, by: device)
      }
      // Most records have room. Reading stored properties copies no record.
      let added = records[index].content.addedBytes
      let fields = records[index].content.edits.entries.count
      if added == 0
        || current.accepts(
          added + ByteBound.field * fields,
          at: records[index].content.position)
      {
        continue
      }
      try current.checkSize(
        of: records[index].content, of: records[index].key, at: dot, time: time)
    }
    current.hybrid = hybrid
    if device != current.device {
      recordChange(to: device, of: current.identity.durableToken)
    }
    return current.commit(records, in: order, at: dot, time: time)
  }

  /// Stops unless the save that made positions is the next one of its device.
  private func check(_ origin: Position.Origin) {
    let isNext = origin.save == current.version[origin.device].sequence &+ 1
    // A merge in the closure can show that another replica uses the ID.
    let isForked = origin.device == current.device && current.needsNewDeviceID
    demand(
      isNext && !isForked,
      "A position was made before another save of the replica in the same closure. "
        + "Save before it, or after the closure.")
  }

  /// The timestamp of a save made now, or `nil` if the clock is at its maximum.
  package var timeOfNextSave: Timestamp? {
    var hybrid = current.hybrid
    return try? hybrid.tick(now: wallClock.now)
  }

  /// Returns whether a record is deleted.
  func isDead(_ id: RecordID) -> Bool {
    current.positions[id].map {
      current.records[$0].isDead(schema.deletion(of: id.entity))
    } ?? false
  }

  /// Returns whether a record is deleted, and the deletion cannot be undone.
  func isPurged(_ id: RecordID) -> Bool {
    current.positions[id].map {
      current.records[$0].isPurged(schema.deletion(of: id.entity))
    } ?? false
  }

  /// Returns whether a record is purged, and an author did not see one of its
  /// deletions.
  ///
  /// An edit by this author would bring back a part of the record.
  ///
  /// - Parameter existence: The existence of the record that the author was
  ///   shown.
  package func isPurged(_ id: RecordID, since existence: FieldState) -> Bool {
    guard isPurged(id), let position = current.positions[id] else {
      return false
    }
    return current.records[position].marks.contains {
      $0.payload.covered != nil && !existence.clock.contains($0.dot)
    }
  }

  /// Returns the device of the next save, a new one if another replica saves
  /// under the current ID.
  ///
  /// Positions contain it, so it does not change after the first one.
  func deviceToSave(_ transaction: Transaction) throws(SaveError) -> DeviceID {
    if let origin = transaction.originOfPositions { return origin.device }
    return current.needsNewDeviceID ? try unusedDevice() : current.device
  }

  /// Returns whether a save made now can place a record in a gap, however many
  /// positions it makes before.
  package func canMakePosition(
    between left: Position?, and right: Position?
  ) -> Bool {
    let transaction = Transaction(self)
    var origin = transaction.newOrigin()
    origin.count = UInt64(Int32.max)
    transaction.originOfPositions = origin
    _ = transaction.position(between: left, and: right)
    return transaction.failure != .positionTooLong
  }

  /// Returns whether a save made now can edit a field without overflow.
  package func accepts(
    _ edit: FieldEdit, of key: FieldKey, in id: RecordID
  ) -> Bool {
    // A new device has no sums yet.
    if current.needsNewDeviceID { return true }
    return current.state(of: key, in: id)
      .map { $0.read { $0.allows(edit, by: current.device) } } ?? true
  }

  /// Throws if an edit of a record would overflow.
  private func check(
    _ record: PendingRecord, of id: RecordID, by device: DeviceID
  ) throws(SaveError) {
    guard let position = record.position ?? current.positions[id] else {
      return
    }
    for entry in record.edits.entries {
      let field = current.records[position][entry.key]
      if field?.read({ $0.allows(entry.content, by: device) }) == false {
        throw .counterOverflow(id, field: current.names[entry.key].name)
      }
    }
  }
}

extension ReplicaState {
  /// Performs a save that can no longer fail.
  fileprivate mutating func commit(
    _ records: [RunMap<RecordID, PendingRecord>.Entry], in order: [UInt32]?,
    at dot: Dot, time: Timestamp
  ) -> SaveReport {
    var report = SaveReport(dot: dot)
    // Chain the digests, so one digest stands for the history up to its save.
    var digest = Digest(seed: version[dot.device].digest)
    digest.add(dot.sequence)
    digest.add(time.rawValue)
    for i in records.indices {
      let index = order.map { Int($0[i]) } ?? i
      digest.add(records[index].key.entity)
      digest.add(records[index].key.key)
      commit(
        records[index].content, of: records[index].key, at: dot, time: time,
        into: &digest, &report)
    }
    version.insert(
      .init(sequence: dot.sequence, time: time, digest: digest.value),
      of: dot.device)
    identity.recordSave(by: dot.device, digest: digest.value, at: version)
    _checkInvariants()
    return report
  }

  /// Performs the edits of one record.
  mutating func commit(
    _ record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp,
    into digest: inout Digest, _ report: inout SaveReport
  ) {
    let position = record.position ?? intern(id)
    records[position].reserve(record.edits.entries.count)
    func perform(_ edit: FieldEdit?, on name: UInt32) {
      let save = EditContext(
        edit: edit, dot: dot, time: time,
        observed: record.observed.isEmpty ? nil : record.observed[names[name]],
        drops: record.drops,
        retraction: record.retractions.isEmpty ? nil : record.retractions[name])
      let superseded = change(name, at: position, in: save)
      if !superseded.isEmpty {
        report.unseenSupersededWrites += superseded.map {
          .init(record: id, field: names[name], write: RegisterWrite($0))
        }
      }
      digest.add(names[name])
      if let retraction = save.retraction {
        digest.add(retraction)
        if let edit { digest.add(edit) }
      } else {
        // Dropping a field counts as unsetting it.
        digest.add(edit ?? .write(nil))
      }
    }
    if !record.drops, record.retractions.isEmpty, record.isSorted(by: names) {
      // Most saves need no list.
      for edit in record.edits.entries { perform(edit.content, on: edit.key) }
    } else {
      for (name, edit) in fieldsToChange(record, at: position) {
        perform(edit, on: name)
      }
    }
    if let retraction = record.retractions[0] { digest.add(retraction) }
    writeMark(position, as: record, at: dot, time: time, into: &digest)
  }

  /// Writes the mark of a record, and supersedes marks that the author
  /// observed.
  ///
  /// A save that edits the record does not write a mark.
  private mutating func writeMark(
    _ position: Int, as record: PendingRecord, at dot: Dot, time: Timestamp,
    into digest: inout Digest
  ) {
    if let mark = record.mark { digest.add(UInt64(mark.rawValue)) }
    let mark = newMark(of: position, as: record, at: dot, time: time)
    if let mark {
      digest.add(mark.clock)
      if mark.isFinal { digest.add(1) }
    }
    let marks = records[position].marks
    if mark == nil, marks.isEmpty { return }
    let save = EditContext(
      dot: dot, time: time, observed: record.observed[.existence],
      retraction: record.retractions[0])
    guard record.mark != nil || save.retraction != nil else { return }
    let seen = Observed(save)
    let kept = marks.filter {
      !(mark?.kind).supersedes($0.payload.kind) || !seen.contains($0.dot)
    }
    if mark == nil, kept.count == marks.count { return }
    changeMarks(of: position, at: dot) { marks in
      marks = Siblings(sorted: kept)
      if let mark { marks.insert(mark, at: dot) }
    }
  }

  /// Returns the mark that a save writes, or `nil` if it writes none.
  private func newMark(
    of position: Int, as record: PendingRecord, at dot: Dot, time: Timestamp
  ) -> ExistenceMark? {
    switch record.mark {
    case nil: return nil
    case .alive:
      return record.edits.entries.isEmpty ? .alive(at: time) : nil
    case .deletion:
      var covered = record.covered ?? records[position].clock
      // A clock that contains this save contains all earlier saves of the
      // device. The author of a deletion as shown may not have seen them.
      if record.covered == nil || record.changesFields {
        covered.advance(to: dot)
      }
      return .deletion(covering: covered, isFinal: record.isFinal, at: time)
    case .purge, .purgeAnnouncement:
      // The clock contains this save only if the save dropped contents.
      return .purge(by: dot, seen: records[position].clock, at: time)
    }
  }

  /// Returns the edits, and `nil` for each other field that a re-creation, a
  /// purge or an undo empties, sorted by key.
  func fieldsToChange(
    _ record: PendingRecord, at position: Int
  ) -> [(key: UInt32, content: FieldEdit?)] {
    var fields: [(key: UInt32, content: FieldEdit?)] = []
    fields.reserveCapacity(record.edits.entries.count)
    for edit in record.edits.entries { fields.append((edit.key, edit.content)) }
    if record.drops {
      fields += fieldsToDrop(record, at: position)
        .filter { record.edits[$0] == nil }.map { ($0, nil) }
    }
    for name in record.retractions.keys
    where name != 0 && record.edits[name] == nil {
      fields.append((name, nil))
    }
    let names = names  // The closure captures only the names.
    fields.sort { names[$0.key] < names[$1.key] }
    return fields
  }

  /// Returns the fields that a re-creation or a purge drops.
  private func fieldsToDrop(
    _ record: PendingRecord, at position: Int
  ) -> [UInt32] {
    records[position].slots.filter { slot in
      slot.name != 0 && slot.state.hasContent
        && (!record.dropsOnlyObserved
          || record.observed[names[slot.name]] != nil)
    }.map(\.name)
  }
}

extension RecordMark.Kind? {
  /// Returns whether a save with this mark, or an edit without a mark,
  /// supersedes an observed mark.
  fileprivate func supersedes(_ other: RecordMark.Kind) -> Bool {
    switch self {
    case nil: other != .alive
    case .alive, .deletion: true
    case .purgeAnnouncement: false
    case .purge: other == .purgeAnnouncement || other == .purge
    }
  }
}
