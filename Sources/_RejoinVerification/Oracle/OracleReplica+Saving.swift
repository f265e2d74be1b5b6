// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The effect of a save on one record.
struct OraclePending {
  var mark: OracleMark.Kind?
  var drops = false
  var verbs: [FieldKey: [FieldEdit]] = [:]
  /// The saves that the author was shown, for some fields.
  ///
  /// For all other fields, the author was shown every received save.
  var shown: [FieldKey: SaveSet] = [:]
  /// For sets, the save whose insertion of an element is retracted.
  var retracted: [FieldKey: [Value: Int]] = [:]
  /// The saves of the record that the author of a deletion was shown, or `nil`
  /// for all.
  var saw: SaveSet?
  /// The saves that a deletion by an undo covers.
  var covered: VectorClock?
  /// Whether the deletion by an undo cannot be undone.
  var isFinal = false
  /// The timestamps of writes that an undo restores.
  var times: [FieldKey: Timestamp] = [:]
  /// The decisions that an undo turns back.
  var turned: [FieldKey: [DeviceID: OracleDecision.Change]] = [:]
}

extension OraclePending {
  /// Records the saves of a field that the author of a verb was shown.
  ///
  /// A save has seen everything that the authors of its verbs were shown.
  fileprivate mutating func show(
    _ saves: SaveSet?, of key: FieldKey, isFirst: Bool
  ) {
    if isFirst {
      shown[key] = saves ?? SaveSet()
    } else if let saves {
      shown[key]?.formUnion(saves)
    }
  }

  /// Sets the record's mark, as its author sees the record in this replica.
  fileprivate mutating func write(mark: OracleMark.Kind) {
    self.mark = mark
    (shown[.existence], saw) = (nil, nil)
  }
}

extension OracleReplica {
  /// Saves some verbs.
  ///
  /// - Returns: The index of the save, or `nil` if there was nothing to save.
  mutating func save(_ verbs: [ScriptVerb], now: Int64) -> Int? {
    var pending: [RecordID: OraclePending] = [:]
    var moves = 0
    for verb in placed(verbs, &moves) { add(verb, to: &pending) }
    return commit(pending, now: now)
  }

  /// Returns the verbs with a write of the new position instead of each move.
  ///
  /// - Parameter moves: How many positions the save has made.
  func placed(_ verbs: [ScriptVerb], _ moves: inout Int) -> [ScriptVerb] {
    verbs.placed(at: Dot(device, clock[device] + 1), &moves) { location in
      exists(location.record) ? field(location).write?.value : nil
    }
  }

  /// Saves edits of a record that was fetched earlier, with the saves in
  /// `seen`.
  mutating func save(
    _ edits: [FieldKey: FieldEdit], of id: RecordID,
    seen: [FieldLocation: SaveSet], with company: ScriptCompany, now: Int64
  ) -> Int? {
    if edits.isEmpty { return nil }
    var pending: [RecordID: OraclePending] = [:]
    var moves = 0
    for verb in placed(company.before, &moves) { add(verb, to: &pending) }
    var record = pending[id] ?? OraclePending()
    if record.mark == .deletion {
      record = OraclePending(mark: .touch, drops: true)
    }
    record.show(
      seen[FieldLocation(record: id, field: .existence)], of: .existence,
      isFirst: record.mark == nil)
    record.mark = .touch
    let quiet = history.schema[id.entity].quietFields
    for (key, edit) in edits {
      let location = FieldLocation(record: id, field: key)
      // A write to a quiet register has seen every received save.
      record.show(
        quiet.contains(key) ? held[location] : seen[location], of: key,
        isFirst: record.verbs[key] == nil)
      record.verbs[key, default: []].append(edit)
    }
    pending[id] = record
    for verb in placed(company.after, &moves) { add(verb, to: &pending) }
    return commit(pending, now: now)
  }

  /// Saves an undo.
  ///
  /// For each register and element, the author has seen only the save to undo.
  /// The decisions of a counter or a ledger follow from that save, and not from
  /// the undo of the library.
  mutating func save(_ undo: UndoneSave, now: Int64) -> Int? {
    var pending: [RecordID: OraclePending] = [:]
    var undone: Int?
    for (id, fields) in undo.reversals {
      let existence = fields[.existence]
      var record = OraclePending(
        mark: existence?.mark.map { $0 ? .touch : .deletion },
        verbs: fields.compactMapValues { $0.edit.map { [$0] } },
        covered: existence?.covered, isFinal: existence?.isFinal ?? false)
      for (key, reversal) in fields {
        guard let retraction = reversal.retraction else { continue }
        let location = FieldLocation(record: id, field: key)
        record.verbs[key, default: []] += []
        record.shown[key] =
          index(of: retraction.dot, in: location).map { SaveSet($0) }
          ?? SaveSet()
        record.times[key] = retraction.time
        record.retracted[key] = retraction.elements.compactMapValues {
          index(of: $0, in: location)
        }
        if retraction.turns.isEmpty { continue }
        guard let index = index(of: undo.undone, in: location) else { continue }
        record.turned[key] = field(location)
          .decisions(turning: decisions(of: index, in: location))
        undone = index
      }
      pending[id] = record
    }
    let save = commit(pending, now: now)
    if let save, let undone {
      knowledge.undos.append(.init(index: save, undone: undone))
    }
    return save
  }

  private func index(of dot: Dot?, in location: FieldLocation) -> Int? {
    held[location]?.members.map(Int.init).first { history.saves[$0].dot == dot }
  }

  /// Announces the purges of deleted records below the cut, and drops the
  /// contents of announced ones.
  mutating func purge(below cut: VectorClock, now: Int64) -> Int? {
    var pending: [RecordID: OraclePending] = [:]
    for id in Set(held.keys.map(\.record)) {
      guard let mark = purge(of: id, below: cut) else { continue }
      pending[id] = OraclePending(mark: mark, drops: mark == .purge)
    }
    return commit(pending, now: now)
  }

  /// Deletes a record that was fetched earlier, with the saves in `seen`.
  mutating func delete(
    _ id: RecordID, seen: [FieldLocation: SaveSet], with company: ScriptCompany,
    now: Int64
  ) -> Int? {
    var pending: [RecordID: OraclePending] = [:]
    var moves = 0
    for verb in placed(company.before, &moves) { add(verb, to: &pending) }
    if exists(id, after: pending) {
      var record = pending[id] ?? OraclePending()
      record.show(
        seen[FieldLocation(record: id, field: .existence)], of: .existence,
        isFirst: record.mark == nil)
      record.mark = .deletion
      if record.shown[.existence] != nil {
        record.saw = seen.reduce(into: SaveSet()) { all, field in
          if field.key.record == id { all.formUnion(field.value) }
        }
      }
      pending[id] = record
    }
    for verb in placed(company.after, &moves) { add(verb, to: &pending) }
    return commit(pending, now: now)
  }

  /// Adds the effect of a verb.
  func add(
    _ verb: ScriptVerb, to pending: inout [RecordID: OraclePending]
  ) {
    switch verb {
    case .touch(let id): touch(id, in: &pending)
    case .delete(let id):
      if exists(id, after: pending) {
        pending[id, default: OraclePending()].write(mark: .deletion)
      }
    case .undelete(let id):
      if exists(id, after: pending) {
        return touch(id, in: &pending)
      }
      if pending[id] != nil || isDead(id) && !isPurged(id) {
        pending[id, default: OraclePending()].write(mark: .touch)
      }
    case .edit(let id, let key, let edit):
      touch(id, in: &pending)
      pending[id]?.shown[key] = nil
      pending[id]?.verbs[key, default: []].append(edit)
    case .move: preconditionFailure("A move is a write of a new position.")
    }
  }

  /// Returns whether a record exists after the verbs so far.
  private func exists(
    _ id: RecordID, after pending: [RecordID: OraclePending]
  ) -> Bool {
    pending[id]?.mark.map { $0 == .touch } ?? exists(id)
  }

  private func touch(
    _ id: RecordID, in pending: inout [RecordID: OraclePending]
  ) {
    if pending[id]?.mark == .touch {
      // The author now sees a deletion that the context didn't show.
      let isUnseen = pending[id]?.shown[.existence] != nil
      pending[id]?.shown[.existence] = nil
      if isUnseen, isDead(id) {
        pending[id]?.shown = [:]
        pending[id]?.drops = true
      }
      return
    }
    let isAgain = pending[id] != nil || isDead(id)
    pending[id] = OraclePending(mark: .touch, drops: isAgain)
  }

  private mutating func commit(
    _ pending: [RecordID: OraclePending], now: Int64
  ) -> Int? {
    if pending.isEmpty { return nil }
    var pending = forgettingPulls(pending)
    if let old = knowledge.predecessor {
      add(retirement(of: old), to: &pending)
      knowledge.predecessor = nil
    }
    knowledge.latest = max(knowledge.latest + 1, Self.stamp(now))
    let dot = Dot(device, clock[device] + 1)
    let save = save(
      of: pending, at: dot, time: Timestamp(rawValue: knowledge.latest))
    let index = history.index(of: save)
    for location in save.edits.keys {
      knowledge.held[location, default: SaveSet()].insert(index)
    }
    knowledge.clock.advance(to: dot)
    knowledge.times[device] = save.time
    return index
  }

  /// Returns the save that changes some records.
  func save(
    of pending: [RecordID: OraclePending], at dot: Dot, time: Timestamp
  ) -> OracleSave {
    var save = OracleSave(dot: dot, time: time)
    for (id, record) in pending {
      var verbs = record.verbs
      if record.drops {
        for location in contents(of: id) {
          verbs[location.field, default: []] += []
        }
      }
      verbs[.existence] = nil
      save.edits[FieldLocation(record: id, field: .existence)] = edit(
        ofExistenceOf: id, record, at: dot, time: time)
      for (key, verbs) in verbs {
        let location = FieldLocation(record: id, field: key)
        save.edits[location] = edit(verbs, of: location, record, in: save)
      }
    }
    return save
  }

  private func edit(
    _ verbs: [FieldEdit], of location: FieldLocation, _ record: OraclePending,
    in save: OracleSave
  ) -> OracleEdit {
    let field = field(location)
    let seen = record.shown[location.field] ?? held[location]
    var edit = OracleEdit(
      seen: seen ?? SaveSet(), drops: record.drops, verbs: verbs,
      stamp: record.times[location.field]
        ?? field.stamp(
          for: save.dot, at: save.time, seen: seen ?? SaveSet()),
      retracted: record.retracted[location.field] ?? [:])
    if edit.cancelsAdditions {
      edit.decisions = field.decisionsOfReset(seeing: edit.seen)
    } else {
      edit.decisions = record.turned[location.field] ?? [:]
    }
    return edit
  }
}

extension OracleField {
  /// Returns the timestamp that makes a write the shown one, at least to its
  /// author.
  fileprivate func stamp(
    for dot: Dot, at time: Timestamp, seen: SaveSet
  ) -> Timestamp {
    guard let rival = greatestSibling(outside: seen) else { return time }
    return (time, dot) < (rival.time, rival.dot)
      ? Timestamp(rawValue: rival.time.rawValue + 1) : time
  }
}
