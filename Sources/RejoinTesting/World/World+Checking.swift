//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

extension World {
  /// Compares everything that can be read at a device with what the oracle says.
  mutating func check(_ i: Int) throws(ScriptMismatch) {
    guard collisions.isEmpty else { return }
    try peers[i].replica.check(
      against: peers[i].model, in: universe, named: name(i))
    counts.checks += 1
  }

  /// That everybody who is expected to hold what is stable does.
  func checkStability(
    of cut: VectorClock, _ i: Int
  ) throws(ScriptMismatch) {
    guard retired.isEmpty, collisions.isEmpty else { return }
    let known = peers[i].model.clock
    for peer in peers where known[peer.model.device] > 0 {
      try agree(
        "the cut is stable", cut.isContained(in: peer.model.clock), true)
    }
  }

  /// Law 8: every effect of every save in the clock is here.
  func checkSoundness(_ i: Int) throws(ScriptMismatch) {
    let model = peers[i].model
    for place in Set(places.values)
    where model.clock.contains(history.saves[place].dot) {
      for path in history.saves[place].edits.keys
      where !model.isLocal(path) && model.held[path]?.contains(place) != true {
        let dot = history.saves[place].dot
        throw ScriptMismatch("law 8: \(dot) of \(path) is not on \(name(i))")
      }
    }
  }

  func name(_ i: Int) -> String { DeviceNames.name(i) }
}

extension TestedReplica {
  /// Compares everything that can be read with what the oracle says.
  func check(
    against model: OracleReplica, in universe: ScriptUniverse,
    named name: String
  ) throws(ScriptMismatch) {
    try ReplicaFacts(model, in: universe).check(self, named: name)
    for path in universe.paths where path.key.kind == .register {
      guard let author = reading(of: path).author else { continue }
      if model.field(path).isFollowed(author) {
        throw ScriptMismatch("law 7: \(path) on \(name) shows what is over")
      }
    }
  }

  /// Law 12: what a save wrote is what is read after it.
  func checkReadBack(
    _ verbs: [ScriptVerb], named name: String
  ) throws(ScriptMismatch) {
    var written: [FieldPath: Value?] = [:]
    for verb in verbs {
      switch verb {
      case .edit(let id, let key, .write(let value)):
        written[FieldPath(id, key)] = .some(value)
      case .delete(let id): written = written.filter { $0.key.id != id }
      default: break
      }
    }
    for (path, value) in written {
      try agree("law 12: \(path) on \(name)", reading(of: path).value, value)
    }
  }
}
