//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import Synchronization

/// The replicas of an episode's devices.
struct RejoinTeam {
  private let episode: Episode
  private var members: [(replica: Replica, clock: SetClock)] = []
  private var places: [String: Int] = [:]
  private var kept: [String: Set<Value?>] = [:]

  private static let id = RecordID("Episode", "record")

  init(_ episode: Episode) throws {
    self.episode = episode
    let ranks = episode.devices.sorted().enumerated()
    let numbers = Dictionary(
      uniqueKeysWithValues: ranks.map { ($1, UInt64($0 + 1)) })
    for device in episode.devices.isEmpty ? [""] : episode.devices {
      let clock = SetClock()
      let replica = Replica(
        device: DeviceID(numbers[device] ?? 1),
        schema: Schema(["Episode": .init(fields: episode.kinds)]),
        clock: WallClock { clock.now })
      places[device] = members.count
      members.append((replica, clock))
      try importBase(into: replica)
    }
  }

  private func importBase(into replica: Replica) throws {
    guard let base = episode.base else { return }
    try replica.import { edit in
      edit.touch(Self.id)
      for (field, content) in base {
        let change: FieldEdit =
          switch content {
          case .value(let value): .write(value)
          case .count(let number): .count(CounterEdit(by: number))
          case .elements(let elements):
            .members(SetEdit(inserting: elements.sorted()))
          }
        edit.apply(change, to: key(field), of: Self.id)
      }
    }
  }

  private func key(_ field: String) -> FieldKey {
    FieldKey(field, episode.kind(of: field))
  }

  /// Saves an edit on its device, at the time of that device's clock.
  mutating func save(_ edit: Episode.Edit) throws {
    guard let place = places[edit.device] else { return }
    members[place].clock.set(edit.at)
    try members[place].replica.save { save in
      if edit.isDeletion { return save.delete(Self.id) }
      for (field, change) in edit.fieldEdits(of: episode.kinds) {
        save.apply(change, to: key(field), of: Self.id)
      }
    }
  }

  /// Sends deltas from each device to each other until there is no news.
  ///
  /// Where everybody sends to everybody, two rounds suffice. Replicas that had
  /// news for longer would show in what they end with.
  mutating func exchange(_ transmit: (Delta) -> Delta?) {
    for _ in 0...members.count {
      guard exchangeOnce(transmit) else { return }
    }
  }

  private mutating func exchangeOnce(_ transmit: (Delta) -> Delta?) -> Bool {
    var isNews = false
    for (sender, _) in members {
      for (receiver, _) in members where receiver !== sender {
        guard let news = sender.delta(since: receiver.clock),
          let delta = transmit(news)
        else { continue }
        list(receiver.apply(delta))
        isNews = true
      }
    }
    return isNews
  }

  /// Notes the writes that met, as the report of receiving tells them.
  private mutating func list(_ report: MergeReport) {
    for encounter in report.encounters {
      let field = encounter.location.field.name
      kept[field, default: []].insert(encounter.winner.value)
      kept[field, default: []].insert(encounter.loser.value)
    }
  }
}

extension RejoinTeam {
  /// What every replica shows, with what its records and reports list as
  /// conflicts.
  var outcome: Outcome {
    let fields = Set((episode.base ?? [:]).keys).union(episode.changedFields)
    var outcome = Outcome(states: [], kept: kept)
    for (replica, _) in members {
      guard let record = replica.record(Self.id) else {
        outcome.states.append(nil)
        continue
      }
      for field in fields {
        outcome.kept[field, default: []]
          .formUnion(record.conflicts(of: field))
      }
      outcome.states.append(record.exists ? shown(record, fields) : nil)
    }
    return outcome
  }

  private func shown(_ record: Record, _ fields: Set<String>) -> PlainRecord {
    var shown: PlainRecord = [:]
    for field in fields {
      switch episode.kind(of: field) {
      case .counter: shown[field] = .count(record.count(of: field))
      case .set: shown[field] = .elements(Set(record.elements(of: field)))
      default: shown[field] = record.value(of: field).map(Content.value)
      }
    }
    return shown
  }
}

extension Episode.Edit {
  /// The edit in the library's terms: each verb on a field, in order.
  fileprivate func fieldEdits(
    of kinds: [String: FieldKind]
  ) -> [(String, FieldEdit)] {
    let cleared = clear.map { field -> (String, FieldEdit) in
      switch kinds[field] {
      case .counter: (field, .count(CounterEdit(by: 0, isReset: true)))
      case .set: (field, .members(.clearing))
      default: (field, .write(nil))
      }
    }
    let written = set.map { field, value -> (String, FieldEdit) in
      guard kinds[field] == .counter, case .int(let number) = value else {
        return (field, .write(value))
      }
      return (field, .count(CounterEdit(by: number, isReset: true)))
    }
    return cleared + written
      + remove.map { ($0, .members(SetEdit(inserting: [], removing: $1))) }
      + insert.map { ($0, .members(SetEdit(inserting: $1))) }
      + increment.map { ($0, .count(CounterEdit(by: $1))) }
  }
}

/// A wall clock that stands where it was set.
private final class SetClock: Sendable {
  private let time = Atomic<Int64>(0)

  var now: Int64 { time.load(ordering: .relaxed) }

  func set(_ now: Int64) { time.store(now, ordering: .relaxed) }
}
