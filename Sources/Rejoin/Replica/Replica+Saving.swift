//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

extension Replica {
  /// Saves what `body` edits, under one dot.
  ///
  /// - Returns: The dot, and what was superseded without having been shown. A save
  ///   without edits takes no dot.
  /// - Throws: ``SaveError``; nothing has changed then.
  /// - Complexity: That of the edits, whatever the replica holds.
  @discardableResult
  public func save(
    _ body: (Edit) -> Void
  ) throws(SaveError) -> SaveReport {
    let edit = Edit(self)
    body(edit)
    if let failure = edit.failure { throw failure }
    guard !edit.pending.isEmpty else { return SaveReport() }
    let device = try deviceToSaveAs()
    noteFinalSaves(in: edit, as: device)
    guard stored.clock[device].n < .max else {
      throw .numbersExhausted(device)
    }
    var hybrid = stored.hybrid
    let time: Timestamp
    do { time = try hybrid.tick(now: wallClock.now) } catch {
      throw .clockExhausted
    }
    let dot = Dot(device, stored.clock[device].n + 1)
    let records = edit.pending.sorted { $0.key < $1.key }
    for (id, record) in records {
      try check(record, of: id, at: dot, time: time)
    }
    stored.hybrid = hybrid
    return commit(records, at: dot, time: time)
  }

  /// The timestamp that a save would take now; `nil` where the clock is at its
  /// maximum.
  package var timeOfNextSave: Timestamp? {
    var hybrid = stored.hybrid
    return try? hybrid.tick(now: wallClock.now)
  }

  /// Whether a record has been deleted, as a save would find it.
  func isDead(_ id: RecordID) -> Bool {
    stored.positions[id].map {
      stored.records[$0].isDead(schema[id.entity].deletion)
    } ?? false
  }

  /// Whether a record exists, its aliases aside.
  func existsAlone(_ id: RecordID) -> Bool {
    stored.positions[id].map {
      stored.records[$0].exists(schema[id.entity].deletion)
    } ?? false
  }

  private func deviceToSaveAs() throws(SaveError) -> DeviceID {
    guard stored.mustRenew else { return stored.device }
    guard let device = renewal?(), device != stored.device,
      stored.clock[device].n == 0
    else { throw .identityInUse(stored.device) }
    return device
  }

  /// Finds what could fail, before anything changes.
  private func check(
    _ record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp
  ) throws(SaveError) {
    guard let position = stored.positions[id] else { return }
    for key in stored.keysToChange(record, at: position) {
      switch (state(of: key, in: id), record.edits[key]) {
      case (.counter(let field), .count(let edit)):
        if !field.store.canAdd(
          edit.increments, edit.decrements, by: dot.device)
        {
          throw .counterOverflow(id, field: key.name)
        }
      case (.lww(let field), _):
        if field.store.stamp(for: time) == nil {
          throw .registerExhausted(id, field: key.name)
        }
      default: break
      }
    }
  }

  private func commit(
    _ records: [(key: RecordID, value: PendingRecord)], at dot: Dot,
    time: Timestamp
  ) -> SaveReport {
    var report = SaveReport(dot: dot)
    var digest = Digest(seed: stored.clock[dot.device].digest)
    digest.add(dot.n)
    digest.add(time.rawValue)
    for (id, record) in records {
      digest.add(id.entity)
      digest.add(id.key)
      report.superseded += stored.commit(
        record, of: id, at: dot, time: time, into: &digest)
    }
    stored.clock.insert(
      .init(n: dot.n, time: time, digest: digest.value), of: dot.device)
    if dot.device != stored.device {
      stored.device = dot.device
      stored.mustRenew = false
      stored.ownDigests = []
    }
    stored.ownDigests.append(digest.value)
    return report
  }
}

extension StoredReplica {
  /// Carries out what a save does to one record.
  mutating func commit(
    _ record: PendingRecord, of id: RecordID, at dot: Dot, time: Timestamp,
    into digest: inout Digest
  ) -> [SaveReport.Superseded] {
    let position = intern(id)
    var superseded: [SaveReport.Superseded] = []
    var save = EditContext(dot: dot, time: time, drops: record.drops)
    for key in keysToChange(record, at: position) {
      save.observed = record.observed[key]
      let edit = record.edits[key]
      superseded += update(key, at: position) { $0.change(edit, in: save) }
        .map { .init(record: id, field: key, write: $0) }
      digest.add(key.name)
      digest.add(edit ?? .write(nil))
    }
    if let mark = record.mark {
      let marks = EditContext(
        dot: dot, time: time, observed: record.existence)
      superseded += update(.existence, at: position) {
        $0.change(.write(.bool(mark)), in: marks)
      }.map { .init(record: id, field: .existence, write: $0) }
      digest.add(mark ? 1 : 0)
    }
    return superseded
  }

  /// The fields that are edited, and those that a re-creation or a purge drops.
  func keysToChange(
    _ record: PendingRecord, at position: Int
  ) -> [FieldKey] {
    var keys = Set(record.edits.keys)
    if record.drops {
      for slot in records[position].slots where slot.state.hasContent {
        let key = names.keys[Int(slot.name)]
        let wasShown =
          !record.dropsOnlyObserved || record.observed[key] != nil
        if key != .existence, wasShown { keys.insert(key) }
      }
    }
    return keys.sorted()
  }
}
