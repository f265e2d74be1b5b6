// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// The effects of a save on one record.
private struct ToyPending {
  var mark: ToyMark?
  var drops = false
  var edits: [FieldKey: FieldEdit] = [:]
  /// The saves that a deletion covers, or `nil` for itself and all saves.
  var covered: VectorClock?
  /// The clocks of some fields that the author saw.
  ///
  /// The author saw the current state of every other field.
  var shown: [FieldKey: VectorClock] = [:]

  /// Adds the saves that a verb saw to those of the save.
  mutating func show(_ clock: VectorClock?, of key: FieldKey, isFirst: Bool) {
    if isFirst {
      shown[key] = clock ?? VectorClock()
    } else if let clock {
      shown[key]?.merge(clock)
    }
  }

  mutating func write(mark: ToyMark) {
    self.mark = mark
    (shown[.existence], covered) = (nil, nil)
  }
}

extension ToyReplica {
  mutating func save(_ verbs: [ScriptVerb], now: Int64) throws -> Dot? {
    var pending: [RecordID: ToyPending] = [:]
    var refused: RecordID?
    var moves = 0
    for verb in placed(verbs, &moves) { note(verb, in: &pending, &refused) }
    if let refused { throw SaveError.purged(refused) }
    return try commit(pending, now: now)
  }

  /// - Parameter refused: A record that the save must not restore.
  private func note(
    _ verb: ScriptVerb, in pending: inout [RecordID: ToyPending],
    _ refused: inout RecordID?
  ) {
    switch verb {
    case .touch(let id): touch(id, in: &pending)
    case .delete(let id):
      guard exists(id, after: pending) else { return }
      pending[id, default: ToyPending()].write(mark: .dead)
    case .undelete(let id):
      if exists(id, after: pending) { return touch(id, in: &pending) }
      if pending[id] != nil || isDead(id) {
        if pending[id] == nil, namesDeletions(of: id) {
          refused = refused ?? id
        }
        pending[id, default: ToyPending()].write(mark: .alive)
      }
    case .edit(let id, let key, let edit):
      touch(id, in: &pending)
      pending[id]?.shown[key] = nil
      if pending[id]?.edits[key]?.append(edit) == nil {
        pending[id]?.edits[key] = edit
      }
    case .move: preconditionFailure("A move is a write of a new position.")
    }
  }

  private func placed(
    _ verbs: [ScriptVerb], _ moves: inout Int
  ) -> [ScriptVerb] {
    verbs.placed(at: Dot(device, vector[device] + 1), &moves) { location in
      exists(location.record) ? reading(of: location).value : nil
    }
  }

  private func exists(
    _ id: RecordID, after pending: [RecordID: ToyPending]
  ) -> Bool {
    pending[id]?.mark.map { $0 == .alive } ?? exists(id)
  }

  private func touch(
    _ id: RecordID, in pending: inout [RecordID: ToyPending]
  ) {
    if pending[id]?.mark == .alive {
      let isUnseen = pending[id]?.shown[.existence] != nil
      pending[id]?.shown[.existence] = nil
      if isUnseen, isDead(id) {
        pending[id]?.shown = [:]
        pending[id]?.drops = true
      }
      return
    }
    let isAgain = pending[id] != nil || isDead(id)
    pending[id] = ToyPending(mark: .alive, drops: isAgain)
  }

  private mutating func commit(
    _ pending: [RecordID: ToyPending], now: Int64
  ) throws -> Dot? {
    if pending.isEmpty { return nil }
    var pending = pending
    if let old = predecessor { retire(old, in: &pending) }
    predecessor = nil
    let dot = Dot(device, vector[device] + 1)
    var save = ToySave(dot: dot, time: try tick(now))
    for (id, record) in pending {
      var edits = record.edits.mapValues(Optional.some)
      if record.drops {
        for location in locations(of: id) where self[location].hasContent {
          edits[location.field] = .some(record.edits[location.field])
        }
      }
      save.drops = record.drops
      for (key, edit) in edits {
        let location = FieldLocation(record: id, field: key)
        save.seen = record.shown[key]
        self[location].change(edit, in: save)
      }
      mark(id, as: record, in: save)
    }
    vector.advance(to: dot)
    times[device] = save.time
    return dot
  }

  /// Marks a record as deleted, touched or purged.
  ///
  /// An edit only removes the marks of deletions and purges.
  private mutating func mark(
    _ id: RecordID, as record: ToyPending, in save: ToySave
  ) {
    let location = FieldLocation(record: id, field: .existence)
    let isEdit = record.mark == .alive && !record.edits.isEmpty
    var seen = record.shown[.existence]
    if isEdit, hazard == .contextSupersedesUnseenDeletion { seen = nil }
    let gone = self[location].entries.filter {
      isRemoved($0.value, by: record, isEdit)
        && seen?.contains($0.dot) ?? true
    }
    if isEdit, gone.isEmpty || hazard == .editKeepsDeletions { return }
    var covered = record.covered ?? clock(of: id)
    if record.covered == nil, record.mark != .final {
      covered.advance(to: save.dot)
    }
    if record.mark == .dropped, hazard == .purgeCountsAsEdit {
      covered[save.dot.device] = save.dot.sequence - 1
    }
    if hazard == .deletionCoversReplicaClock { covered.merge(vector) }
    if hazard == .deletionCoversItself { covered = VectorClock(save.dot) }
    self[location].entries.removeAll(where: gone.contains)
    self[location].clock.advance(to: save.dot)
    if isEdit { return }
    self[location].entries.append(
      .init(
        dot: save.dot, time: save.time, value: record.mark?.value,
        seen: record.mark == .alive ? VectorClock() : covered))
  }

  private func isRemoved(
    _ mark: Value?, by record: ToyPending, _ isEdit: Bool
  ) -> Bool {
    switch record.mark {
    case .final: false
    case .dropped: mark == ToyMark.final.value || mark == ToyMark.dropped.value
    default: !isEdit || mark != ToyMark.alive.value
    }
  }

  /// Records a device as retired, with its greatest known number.
  private func retire(
    _ old: DeviceID, in pending: inout [RecordID: ToyPending]
  ) {
    let heard = fields.values.map { $0.clock[old] } + [vector[old]]
    let n = max(retirement(of: old) ?? 0, heard.max() ?? 0)
    let location = location(ofRetirement: old)
    pending[location.record] = ToyPending(
      mark: .alive, edits: [location.field: .write(.int(Int64(n)))])
  }

  private func location(ofRetirement device: DeviceID) -> FieldLocation {
    FieldLocation(
      record: RecordID("rejoin.retirement", device.hexadecimal),
      field: FieldKey("last", .register))
  }

  /// Returns the greatest number of a device's retirements.
  func retirement(of device: DeviceID) -> UInt64? {
    self[location(ofRetirement: device)].entries.map { entry in
      if case .int(let n) = entry.value { UInt64(n) } else { 0 as UInt64 }
    }.max()
  }

  private mutating func tick(_ now: Int64) throws -> Timestamp {
    let time = try hybrid.tick(now: now)
    let isBlind =
      hazard == .wallClockStamps || hazard == .clockThenTimeThenDevice
    return isBlind ? Timestamp(milliseconds: now) : time
  }
}

// Contexts.
extension ToyReplica {
  /// The fields of a record at the fetch.
  typealias Fetched = [FieldKey: ToyField]

  func fetch(_ id: RecordID) -> Fetched {
    var shown = [
      FieldKey.existence: self[FieldLocation(record: id, field: .existence)]
    ]
    for location in locations(of: id) { shown[location.field] = self[location] }
    return shown
  }

  mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Fetched,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    var pending: [RecordID: ToyPending] = [:]
    var refused: RecordID?
    var moves = 0
    for verb in placed(company.before, &moves) {
      note(verb, in: &pending, &refused)
    }
    var record = pending[id] ?? ToyPending()
    let isUnseen = marks(of: id, [.dead, .dropped]).contains {
      !(shown[.existence]?.clock.contains($0.dot) ?? false)
    }
    let mayRevive = hazard == .draftRevivesPurged
    if isDead(id), namesDeletions(of: id), isUnseen, !mayRevive {
      throw SaveError.purged(id)
    }
    if record.mark == .dead { record = ToyPending(mark: .alive, drops: true) }
    record.show(
      shown[.existence]?.clock, of: .existence, isFirst: record.mark == nil)
    record.mark = .alive
    for (key, edit) in edits {
      let isSeen = seesAll(of: key, shown: shown)
      record.show(
        isSeen
          ? self[FieldLocation(record: id, field: key)].clock
          : shown[key]?.clock, of: key,
        isFirst: record.edits[key] == nil)
      if record.edits[key]?.append(edit) == nil { record.edits[key] = edit }
    }
    if hazard == .equalFieldsOverwritten {
      for (key, field) in shown where edits[key] == nil {
        let isWritten = key.kind == .register
        guard isWritten, key != .existence, let write = field.winner else {
          continue
        }
        record.edits[key] = .write(write.value)
        record.shown[key] = field.clock
      }
    }
    pending[id] = record
    for verb in placed(company.after, &moves) {
      note(verb, in: &pending, &refused)
    }
    if let refused { throw SaveError.purged(refused) }
    return try commit(pending, now: now)
  }

  mutating func delete(
    _ id: RecordID, shown: Fetched, with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    var pending: [RecordID: ToyPending] = [:]
    var refused: RecordID?
    var moves = 0
    for verb in placed(company.before, &moves) {
      note(verb, in: &pending, &refused)
    }
    if exists(id, after: pending) {
      var record = pending[id] ?? ToyPending()
      record.show(
        shown[.existence]?.clock, of: .existence, isFirst: record.mark == nil)
      record.mark = .dead
      if record.shown[.existence] != nil, hazard != .deletionCoversUnseen {
        record.covered = shown.values.reduce(into: VectorClock()) {
          $0.merge($1.clock)
        }
      }
      pending[id] = record
    }
    for verb in placed(company.after, &moves) {
      note(verb, in: &pending, &refused)
    }
    if let refused { throw SaveError.purged(refused) }
    return try commit(pending, now: now)
  }

  /// Returns whether the current state of a field counts as seen, not the shown
  /// one.
  private func seesAll(of key: FieldKey, shown: Fetched) -> Bool {
    switch hazard {
    case .refreshAdvancesDirtyBase: true
    case .resolutionSupersedesUnseen:
      shown[key]?.reading.conflicts.isEmpty == false
    default: false
    }
  }
}

// Stability.
extension ToyReplica {
  /// Adds the saves that all devices are known to hold.
  mutating func raiseCut() {
    if hazard == .globalCut {
      return stabilityCut.merge(
        acknowledged.values.reduce(into: vector) { $0.merge($1) })
    }
    var cut = vector
    for entry in vector.entries where entry.device != device {
      cut = cut.intersection(acknowledged[entry.device] ?? VectorClock())
    }
    stabilityCut.merge(cut)
  }

  mutating func purge(now: Int64) throws -> Dot? {
    raiseCut()
    let cut = stabilityCut
    var pending: [RecordID: ToyPending] = [:]
    for id in Set(fields.keys.map(\.record)) where isDead(id) {
      guard locations(of: id).contains(where: { self[$0].hasContent }) else {
        continue
      }
      let marks = self[FieldLocation(record: id, field: .existence)].entries
      let isStable = marks.allSatisfy { cut.contains($0.dot) }
      if namesDeletions(of: id, below: cut)
        || hazard == .purgeInOneStep && isStable
      {
        pending[id] = ToyPending(mark: .dropped, drops: true)
      } else if isStable, !namesDeletions(of: id) {
        pending[id] = ToyPending(mark: .final)
      }
    }
    let dot = try commit(pending, now: now)
    if hazard == .tombstonesForgotten {
      fields = fields.filter { pending[$0.key.record]?.drops != true }
    }
    return dot
  }
}
