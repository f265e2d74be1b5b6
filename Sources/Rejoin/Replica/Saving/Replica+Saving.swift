// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Saves the edits of `body` under one dot.
  ///
  ///     try phone.save { $0[Profile.self, "ada"].name = "Ada" }
  ///
  /// - Returns: The dot, which is `nil` if there were no edits, and what had to
  ///   be superseded or retained.
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  /// - Complexity: That of the edits, whatever the size of the replica.
  @discardableResult
  public func save(
    _ body: (Transaction) -> Void
  ) throws(SaveError) -> SaveReport {
    let transaction = Transaction(self)
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
  /// - Returns: What `body` returns, and the report of the save.
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  @discardableResult
  public func save<Value>(
    _ body: (Transaction) -> Value
  ) throws(SaveError) -> (value: Value, report: SaveReport) {
    let transaction = Transaction(self)
    let value = body(transaction)
    return (value, try commit(transaction))
  }

  /// Saves the edits of `body` under one dot, unless it throws.
  ///
  /// - Throws: What `body` throws, or ``SaveError``. On error, the replica is
  ///   unchanged.
  @discardableResult
  public func save(_ body: (Transaction) throws -> Void) throws -> SaveReport {
    let transaction = Transaction(self)
    try body(transaction)
    return try commit(transaction)
  }

  /// Saves the edits of `body` under one dot, unless it throws, and returns its
  /// value.
  ///
  /// - Returns: What `body` returns, and the report of the save.
  /// - Throws: What `body` throws, or ``SaveError``. On error, the replica is
  ///   unchanged.
  @discardableResult
  public func save<Value>(
    _ body: (Transaction) throws -> Value
  ) throws -> (value: Value, report: SaveReport) {
    let transaction = Transaction(self)
    let value = try body(transaction)
    return (value, try commit(transaction))
  }

  /// Carries out a transaction.
  ///
  /// Everything that can fail is checked first, on copies: until the other
  /// `commit` nothing of the replica has changed.
  private func commit(_ transaction: Transaction) throws(SaveError)
    -> SaveReport
  {
    transaction._checkInvariants()
    if let failure = transaction.failure { throw failure }
    guard !transaction.pending.isEmpty else { return SaveReport() }
    let device = try deviceToSaveAs()
    if let old = stored.deviceToRetire(inSaveBy: device) {
      transaction.retire(old)
    }
    guard stored.version[device].sequence < .max else {
      throw .numbersExhausted(device)
    }
    var hybrid = stored.hybrid
    let time: Timestamp
    do { time = try hybrid.tick(now: wallClock.now) } catch {
      throw .clockExhausted
    }
    let dot = Dot(device, stored.version[device].sequence + 1)
    // Sorted, so that the digest of a save depends on its edits alone.
    let (records, order) = (
      transaction.pending.entries, transaction.pending.order
    )
    for place in order where records[place].content.canFail {
      try check(
        records[place].content, of: records[place].key, at: dot, time: time)
    }
    stored.hybrid = hybrid
    if device != stored.device {
      deviceChange = DeviceChange(old: stored.device, new: device)
    }
    return stored.commit(records, in: order, at: dot, time: time)
  }

  /// The timestamp of a save made now; `nil` if the clock is at its maximum.
  package var timeOfNextSave: Timestamp? {
    var hybrid = stored.hybrid
    return try? hybrid.tick(now: wallClock.now)
  }

  /// Whether a record has been deleted, whatever its aliases.
  func isDead(_ id: RecordID) -> Bool {
    stored.positions[id].map {
      stored.records[$0].isDead(schema.deletion(of: id.entity))
    } ?? false
  }

  /// Whether the contents of a dead record have been dropped.
  func isPurged(_ id: RecordID) -> Bool {
    stored.positions[id].map { stored.records[$0].isPurged } ?? false
  }

  /// Whether a record exists under this ID.
  func existsIgnoringAliases(_ id: RecordID) -> Bool {
    stored.positions[id].map {
      stored.records[$0].exists(schema.deletion(of: id.entity))
    } ?? false
  }

  /// The device of the next save: a new one if another replica saves under
  /// ours.
  private func deviceToSaveAs() throws(SaveError) -> DeviceID {
    stored.needsNewDeviceID ? try unusedDevice() : stored.device
  }

  /// Throws if an edit of a record would overflow.
  private func check(
    _ record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp
  ) throws(SaveError) {
    guard let position = stored.positions[id] else { return }
    for key in stored.keysToChange(record, at: position)
    where key.kind == .counter || key.kind == .lww {
      switch (stored.state(of: key, in: id), record.edits[key]) {
      case (.counter(let field), .count(let edit)):
        if !field.store.canAdd(
          edit.increments, edit.decrements, by: dot.device)
        {
          throw .counterOverflow(id, field: key.name)
        }
      // A write is stamped above the one present; above the greatest timestamp
      // there is no other.
      case (.lww(let field), _):
        if field.store.stamp(for: time) == nil {
          throw .registerExhausted(id, field: key.name)
        }
      default: break
      }
    }
  }
}

extension StoredReplica {
  /// The device that a save has to retire, because its own device replaced it.
  fileprivate func deviceToRetire(inSaveBy device: DeviceID) -> DeviceID? {
    if let predecessor { return predecessor }
    return device != self.device && version[self.device].sequence > 0
      ? self.device : nil
  }

  /// Carries out a save that cannot fail any more.
  fileprivate mutating func commit(
    _ records: [RunMap<RecordID, PendingRecord>.Entry], in order: [Int],
    at dot: Dot, time: Timestamp
  ) -> SaveReport {
    var report = SaveReport(dot: dot)
    // Chained, so that one digest stands for the history up to its save.
    var digest = Digest(seed: version[dot.device].digest)
    digest.add(dot.sequence)
    digest.add(time.rawValue)
    for place in order {
      digest.add(records[place].key.entity)
      digest.add(records[place].key.key)
      commit(
        records[place].content, of: records[place].key, at: dot, time: time,
        into: &digest, &report)
    }
    version.insert(
      .init(sequence: dot.sequence, time: time, digest: digest.value),
      of: dot.device)
    if dot.device != device {
      replaceDevice(by: dot.device)
    }
    // This save has retired it. The digest goes to the digests of the new
    // device, so it must not be added before.
    predecessor = nil
    ownDigests.append(digest.value)
    _checkInvariants()
    return report
  }

  /// Carries out the edits of one record.
  mutating func commit(
    _ record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp,
    into digest: inout Digest, _ report: inout SaveReport
  ) {
    let position = intern(id)
    var save = EditContext(dot: dot, time: time, drops: record.drops)
    func change(_ key: FieldKey, _ edit: FieldEdit?, _ save: EditContext) {
      let superseded = self.change(key, at: position, edit, in: save)
      if superseded.isEmpty { return }
      report.superseded += superseded.map {
        .init(record: id, field: key, write: $0)
      }
    }
    if record.drops {
      report.retained += keysToDrop(record, at: position, where: \.isExhausted)
        .sorted().map { .init(record: id, field: $0) }
    }
    for (key, edit) in edits(of: record, at: position) {
      if !record.observed.isEmpty { save.observed = record.observed[key] }
      change(key, edit, save)
      digest.add(key)
      // Dropping a field counts as unsetting it.
      digest.add(edit ?? .write(nil))
    }
    noteAliases(at: position)
    if let mark = record.mark {
      change(
        .existence, .write(.bool(mark)),
        EditContext(dot: dot, time: time, observed: record.existence))
      digest.add(mark ? 1 : 0)
    }
  }

  /// The edits of a record, and `nil` for each further field that a re-creation
  /// or a purge drops, sorted by field.
  private func edits(
    of record: PendingRecord, at position: Int
  ) -> [(key: FieldKey, edit: FieldEdit?)] {
    let edits = record.edits.sorted
    if !record.drops { return edits.map { ($0.key, $0.content) } }
    return keysToChange(record, at: position).map { ($0, record.edits[$0]) }
  }

  /// The fields to be edited, and those that a re-creation or a purge drops,
  /// sorted.
  func keysToChange(
    _ record: PendingRecord, at position: Int
  ) -> [FieldKey] {
    let edited = record.edits.entries.map(\.key)
    if !record.drops { return edited.sorted() }
    return keysToDrop(record, at: position, where: \.hasContent)
      .union(edited).sorted()
  }

  /// The fields that a re-creation or a purge drops, of those that `isIncluded`
  /// picks.
  private func keysToDrop(
    _ record: PendingRecord, at position: Int,
    where isIncluded: (FieldState) -> Bool
  ) -> Set<FieldKey> {
    guard record.drops else { return [] }
    var keys: Set<FieldKey> = []
    for slot in records[position].slots where isIncluded(slot.state) {
      let key = names.keys[Int(slot.name)]
      let wasShown = !record.dropsOnlyObserved || record.observed[key] != nil
      if key != .existence, wasShown { keys.insert(key) }
    }
    return keys
  }
}
