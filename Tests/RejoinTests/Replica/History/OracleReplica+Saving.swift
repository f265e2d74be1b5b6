//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// What a save does to one record.
private struct OraclePending {
  var mark: Bool?
  var drops: Bool
  var verbs: [FieldKey: [FieldEdit]] = [:]
}

extension OracleReplica {
  /// Saves as the verbs say.
  ///
  /// - Returns: The dot; `nil` if there was nothing to save.
  mutating func save(_ verbs: [HistoryVerb], now: Int64) -> Dot? {
    var pending: [RecordID: OraclePending] = [:]
    for verb in verbs { note(verb, in: &pending) }
    return commit(pending, now: now)
  }

  /// Drops what dead records hold whose deletion lies below the cut.
  mutating func purge(below cut: VectorClock, now: Int64) -> Dot? {
    var pending: [RecordID: OraclePending] = [:]
    for id in Set(held.keys.map(\.id)) where isPurgeable(id, below: cut) {
      pending[id] = OraclePending(mark: nil, drops: true)
    }
    return commit(pending, now: now)
  }

  private func note(
    _ verb: HistoryVerb, in pending: inout [RecordID: OraclePending]
  ) {
    switch verb {
    case .touch(let id): touch(id, in: &pending)
    case .delete(let id):
      guard pending[id]?.mark ?? exists(id) else { return }
      pending[id, default: OraclePending(mark: false, drops: false)].mark =
        false
    case .edit(let id, let key, let edit):
      touch(id, in: &pending)
      pending[id]?.verbs[key, default: []].append(edit)
    }
  }

  private func touch(
    _ id: RecordID, in pending: inout [RecordID: OraclePending]
  ) {
    if pending[id]?.mark == true { return }
    let isAgain = pending[id] != nil || isDead(id)
    pending[id] = OraclePending(mark: true, drops: isAgain)
  }

  private mutating func commit(
    _ pending: [RecordID: OraclePending], now: Int64
  ) -> Dot? {
    if pending.isEmpty { return nil }
    latest = max(latest + 1, OracleReplica.stamp(now))
    let dot = Dot(device, clock[device] + 1)
    var save = OracleSave(dot: dot, time: Timestamp(rawValue: latest))
    for (id, record) in pending {
      var verbs = record.verbs
      if record.drops {
        for path in contents(of: id) { verbs[path.key, default: []] += [] }
      }
      if let mark = record.mark { verbs[.existence] = [.write(.bool(mark))] }
      for (key, verbs) in verbs {
        let path = FieldPath(id: id, key: key)
        save.edits[path] = edit(
          verbs, of: path, drops: record.drops, at: save.time)
      }
    }
    let place = history.saves.count
    history.saves.append(save)
    for path in save.edits.keys {
      held[path, default: SaveSet()].insert(place)
    }
    clock.insert(dot)
    return dot
  }

  private func edit(
    _ verbs: [FieldEdit], of path: FieldPath, drops: Bool, at time: Timestamp
  ) -> OracleEdit {
    let field = field(path)
    var stamp = time
    if path.key.kind == .lww, let present = field.write?.time {
      stamp = max(time, Timestamp(rawValue: present.rawValue + 1))
    }
    return OracleEdit(
      seen: held[path] ?? SaveSet(), drops: drops, verbs: verbs,
      stamp: stamp, shown: field.elements)
  }
}
