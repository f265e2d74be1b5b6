//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

extension HistoryPeer {
  /// Compares everything that can be read with what the oracle says.
  func check() throws(HistoryMismatch) {
    try agree("device", replica.device, model.device)
    try agree("clock", replica.clock.vector, model.clock)
    try agree(
      "timestamp", replica.state.hybrid.latest.rawValue, model.latest)
    for id in HistoryUniverse.ids {
      try agree("\(id) exists", replica.exists(id), model.exists(id))
      try agree("\(id) is dead", replica.isDead(id), model.isDead(id))
    }
    for path in HistoryUniverse.paths {
      try agree(
        "\(path.id).\(path.key.name)", replica.reading(of: path),
        model.reading(of: path))
      try checkEntries(path)
    }
    try checkMaximality()
    try checkSoundness()
  }

  /// Whatever of a ledger has not been folded is as it was entered.
  private func checkEntries(_ path: FieldPath) throws(HistoryMismatch) {
    guard path.key.kind == .ledger else { return }
    let real = replica.record(path.id)?.entries(of: path.key.name) ?? []
    let expected = Set(model.field(path).entries)
    for entry in real where !expected.contains(entry) {
      throw HistoryMismatch(what: "\(path.id) has an entry too many: \(entry)")
    }
  }

  /// Law 7: no shown value has been seen by a later write.
  private func checkMaximality() throws(HistoryMismatch) {
    for path in HistoryUniverse.paths where path.key.kind == .register {
      guard
        let dot = replica.record(path.id)?.provenance(of: path.key.name)?.dot
      else { continue }
      if model.field(path).isFollowed(dot) {
        throw HistoryMismatch(what: "\(path.id) shows \(dot), overwritten")
      }
    }
  }

  /// Law 8: every effect of every save in the clock is here.
  private func checkSoundness() throws(HistoryMismatch) {
    for (place, save) in model.history.saves.enumerated()
    where replica.clock.vector.contains(save.dot) {
      for path in save.edits.keys
      where !model.history.schema[path.id.entity].isLocalOnly {
        let dots = replica.state(of: path.key, in: path.id)?.clock ?? [:]
        if model.held[path]?.contains(place) != true || !dots.contains(save.dot)
        {
          throw HistoryMismatch(what: "\(save.dot) of \(path) is missing")
        }
      }
    }
  }
}

extension HistoryMessage {
  /// What one replica has to say beyond a clock; `nil` if nothing.
  init?(
    from peer: HistoryPeer, since basis: ReplicaClock
  ) throws(HistoryMismatch) {
    let model = peer.model.delta(since: basis.vector)
    let delta = peer.replica.delta(since: basis)
    try agree("there is news", delta != nil, model != nil)
    guard let delta, let model else { return nil }
    (self.delta, self.model) = (delta, model)
    try checkFields(of: peer)
    try agree(
      "devices with news", Set(delta.intervals.keys),
      Set(model.intervals.keys))
    for (device, interval) in delta.intervals {
      try agree(
        "interval of \(device)", [interval.from, interval.to.n],
        model.intervals[device].map { [$0.from, $0.to] } ?? [])
      try agree(
        "time of the last save of \(device)", interval.to.time,
        peer.model.history.time(of: Dot(device, interval.to.n)))
    }
  }

  private func checkFields(of peer: HistoryPeer) throws(HistoryMismatch) {
    try agree("fields in a delta", delta.paths, Set(model.fields.keys))
    for change in delta.changes {
      for (key, state) in change.fields {
        let path = FieldPath(id: change.id, key: key)
        try agree(
          "clock of \(change.id).\(key.name)", state.clock,
          peer.model.field(path).clock)
      }
    }
  }
}

extension Delta {
  /// The fields in the delta.
  var paths: Set<FieldPath> {
    Set(
      changes.flatMap { change in
        change.fields.keys.map { FieldPath(id: change.id, key: $0) }
      })
  }
}
