// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// What a save does to one record.
private struct ToyPending {
  var mark: Bool?
  var drops = false
  var edits: [FieldKey: FieldEdit] = [:]
  /// The saves that a deletion covers, or `nil` for itself and all saves.
  var covered: VectorClock?
  /// The clocks that the author was shown of some fields.
  ///
  /// The author sees every other field as it is here.
  var shown: [FieldKey: VectorClock] = [:]

  /// The save has seen whatever any of its verbs has.
  mutating func show(_ clock: VectorClock?, of key: FieldKey, isFirst: Bool) {
    if isFirst {
      shown[key] = clock ?? VectorClock()
    } else if let clock {
      shown[key]?.merge(clock)
    }
  }

  mutating func write(mark: Bool) {
    self.mark = mark
    (shown[.existence], covered) = (nil, nil)
  }
}

extension ToyReplica {
  mutating func save(_ verbs: [ScriptVerb], now: Int64) throws -> Dot? {
    var pending: [RecordID: ToyPending] = [:]
    for verb in verbs { note(verb, in: &pending) }
    return try commit(pending, now: now)
  }

  private func note(
    _ verb: ScriptVerb, in pending: inout [RecordID: ToyPending]
  ) {
    switch verb {
    case .touch(let id): touch(id, in: &pending)
    case .delete(let id):
      guard pending[id]?.mark ?? exists(id) else { return }
      pending[id, default: ToyPending()].write(mark: false)
    case .undelete(let id):
      if pending[id]?.mark ?? exists(id) { return touch(id, in: &pending) }
      if pending[id] != nil || isDead(id) {
        pending[id, default: ToyPending()].write(mark: true)
      }
    case .edit(let id, let key, let edit):
      touch(id, in: &pending)
      pending[id]?.shown[key] = nil
      if pending[id]?.edits[key]?.append(edit) == nil {
        pending[id]?.edits[key] = edit
      }
    }
  }

  private func touch(
    _ id: RecordID, in pending: inout [RecordID: ToyPending]
  ) {
    if pending[id]?.mark == true {
      let isUnseen = pending[id]?.shown[.existence] != nil
      pending[id]?.shown[.existence] = nil
      if isUnseen, isDead(id) {
        pending[id]?.shown = [:]
        pending[id]?.drops = true
      }
      return
    }
    let isAgain = pending[id] != nil || isDead(id)
    pending[id] = ToyPending(mark: true, drops: isAgain)
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
        for path in paths(of: id) where self[path].hasContent {
          edits[path.key] = .some(record.edits[path.key])
        }
      }
      save.drops = record.drops
      for (key, edit) in edits {
        let path = FieldPath(id, key)
        save.seen = record.shown[key]
        self[path].change(edit, in: save)
      }
      mark(id, as: record, in: save)
    }
    vector.advance(to: dot)
    times[device] = save.time
    return dot
  }

  /// Marks a record as deleted or touched.
  ///
  /// An edit only removes deletions.
  private mutating func mark(
    _ id: RecordID, as record: ToyPending, in save: ToySave
  ) {
    let path = FieldPath(id, .existence)
    let isEdit = record.mark == true && !record.edits.isEmpty
    var seen = record.shown[.existence]
    if isEdit, hazard == .contextSupersedesUnseenDeletion { seen = nil }
    let gone = self[path].entries.filter {
      (!isEdit || $0.value == false) && seen?.contains($0.dot) ?? true
    }
    if isEdit, gone.isEmpty || hazard == .editKeepsDeletions { return }
    var covered = record.covered ?? clock(of: id)
    if record.covered == nil { covered.advance(to: save.dot) }
    if record.drops, hazard == .purgeCountsAsEdit {
      covered[save.dot.device] = save.dot.sequence - 1
    }
    if hazard == .deletionCoversReplicaClock { covered.merge(vector) }
    if hazard == .deletionCoversItself { covered = VectorClock(save.dot) }
    self[path].entries.removeAll(where: gone.contains)
    self[path].clock.advance(to: save.dot)
    if isEdit { return }
    self[path].entries.append(
      .init(
        dot: save.dot, time: save.time, value: .bool(record.mark == true),
        seen: record.mark == true ? VectorClock() : covered))
  }

  /// Enters a device as retired, at the greatest number of it that is known.
  private func retire(
    _ old: DeviceID, in pending: inout [RecordID: ToyPending]
  ) {
    let heard = fields.values.map { $0.clock[old] } + [vector[old]]
    let n = max(retirement(of: old) ?? 0, heard.max() ?? 0)
    let path = path(ofRetirement: old)
    pending[path.id] = ToyPending(
      mark: true, edits: [path.key: .write(.int(Int64(n)))])
  }

  private func path(ofRetirement device: DeviceID) -> FieldPath {
    FieldPath(
      RecordID("rejoin.retirement", device.hexadecimal),
      FieldKey("last", .register))
  }

  /// The greatest number at which a device was retired.
  func retirement(of device: DeviceID) -> UInt64? {
    self[path(ofRetirement: device)].entries.map { entry in
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
  /// A record as it was shown.
  typealias Fetched = [FieldKey: ToyField]

  func fetch(_ id: RecordID) -> Fetched {
    var shown = [FieldKey.existence: self[FieldPath(id, .existence)]]
    for path in paths(of: id) { shown[path.key] = self[path] }
    return shown
  }

  mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID, shown: Fetched,
    with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    var pending: [RecordID: ToyPending] = [:]
    for verb in company.before { note(verb, in: &pending) }
    var record = pending[id] ?? ToyPending()
    if record.mark == false { record = ToyPending(mark: true, drops: true) }
    record.show(
      shown[.existence]?.clock, of: .existence, isFirst: record.mark == nil)
    record.mark = true
    for (key, edit) in edits {
      let isSeen = seesAll(of: key, shown: shown)
      record.show(
        isSeen ? self[FieldPath(id, key)].clock : shown[key]?.clock, of: key,
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
    for verb in company.after { note(verb, in: &pending) }
    return try commit(pending, now: now)
  }

  mutating func delete(
    _ id: RecordID, shown: Fetched, with company: ScriptCompany, now: Int64
  ) throws -> Dot? {
    var pending: [RecordID: ToyPending] = [:]
    for verb in company.before { note(verb, in: &pending) }
    if pending[id]?.mark ?? exists(id) {
      var record = pending[id] ?? ToyPending()
      record.show(
        shown[.existence]?.clock, of: .existence, isFirst: record.mark == nil)
      record.mark = false
      if record.shown[.existence] != nil, hazard != .deletionCoversUnseen {
        record.covered = shown.values.reduce(into: VectorClock()) {
          $0.merge($1.clock)
        }
      }
      pending[id] = record
    }
    for verb in company.after { note(verb, in: &pending) }
    return try commit(pending, now: now)
  }

  /// Whether a field is taken for seen as it is now, not as it was shown.
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
  /// Adds what everybody is known to hold by now.
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
    for id in Set(fields.keys.map(\.id)) where isDead(id) {
      let marks = self[FieldPath(id, .existence)].entries
      if marks.allSatisfy({ cut.contains($0.dot) }),
        paths(of: id).contains(where: { self[$0].hasContent })
      {
        pending[id] = ToyPending(mark: false, drops: true)
      }
    }
    let dot = try commit(pending, now: now)
    if hazard == .tombstonesForgotten {
      fields = fields.filter { pending[$0.key.id] == nil }
    }
    return dot
  }
}
