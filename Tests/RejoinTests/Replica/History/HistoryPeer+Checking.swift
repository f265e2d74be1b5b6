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
    let existing = Set(HistoryUniverse.ids.filter(model.exists))
    for id in HistoryUniverse.ids {
      let record = replica.record(id)
      try agree(
        "\(id) exists", record?.exists ?? false, existing.contains(id))
      for key in HistoryUniverse.keys {
        let field = model.field(FieldPath(id: id, key: key))
        try agree(
          "\(id).\(key.name)", record?.reading(of: key) ?? FieldReading(),
          model.reading(of: field, where: existing))
        try check(record, key, field)
      }
    }
  }

  /// Law 7, and that a ledger's entries are as they were entered.
  private func check(
    _ record: Record?, _ key: FieldKey, _ field: OracleField
  ) throws(HistoryMismatch) {
    guard let record else { return }
    switch key.kind {
    case .register:
      let dot = record.provenance(of: key.name)?.dot
      let isOver = dot.map(field.isFollowed) ?? false
      try agree("law 7: \(record.id) shows what is over", isOver, false)
    case .ledger:
      let entries = Set(record.entries(of: key.name))
      try agree(
        "entries of \(record.id)", entries.subtracting(field.entries), [])
    default: break
    }
  }

  /// Law 8: every effect of every save in the clock is here.
  func checkSoundness() throws(HistoryMismatch) {
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
