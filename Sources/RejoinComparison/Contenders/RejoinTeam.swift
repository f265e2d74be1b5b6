// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import RejoinTesting

/// The replicas of an episode's devices.
struct RejoinTeam {
  let episode: Episode
  /// A replica and its wall clock for each device, in the order of arrival.
  private(set) var members: [(replica: Replica, clock: ManualClock)] = []
  /// The index in `members`, by device.
  private(set) var indices: [String: Int] = [:]
  /// The contexts of the devices, or none if each edit is saved immediately.
  private(set) var contexts: [EditingContext] = []
  /// The records that contexts show after their policy refused to save.
  var unsaved: [Int: PlainRecord?] = [:]
  /// The contents that reports and errors showed, by field.
  var reported: [String: Set<Content?>] = [:]

  static let id = RecordID("Episode", "record")

  private static func noDevice() -> DeviceID {
    preconditionFailure("no device of an episode is restored or cloned")
  }

  /// Creates the replicas.
  ///
  /// - Parameter policy: The policy of the devices' contexts, or `nil` to
  ///   create no contexts.
  init(
    _ episode: Episode, deletion: DeletionRule = .updateWins,
    policy: MergePolicy? = nil
  ) throws {
    self.episode = episode
    // The library compares device IDs. Number them by name, so they order like
    // names.
    let ranks = episode.devices.sorted().enumerated()
    let numbers = Dictionary(
      uniqueKeysWithValues: ranks.map { ($1, UInt64($0 + 1)) })
    let schema = Schema([
      "Episode": .init(fields: Set(episode.keys), deletion: deletion)
    ])
    for device in episode.devices.isEmpty ? [""] : episode.devices {
      let clock = ManualClock(0)
      let replica = Replica(
        device: DeviceID(numbers[device] ?? 1),
        schema: schema, wallClock: WallClock { clock.now },
        makeDeviceID: RejoinTeam.noDevice)
      indices[device] = members.count
      members.append((replica, clock))
      if episode.earlier.isEmpty { try importBase(into: replica) }
    }
    for edit in episode.earlier {
      try save(edit)
      exchange { $0 }
    }
    guard let policy else { return }
    contexts = members.map { replica, _ in
      let context = EditingContext(replica, mergePolicy: policy)
      context.fetch(Self.id)
      return context
    }
  }

  private func importBase(into replica: Replica) throws {
    guard let base = episode.base else { return }
    try replica.importRows { transaction in
      transaction.ensureExists(Self.id)
      for (field, content) in base {
        let change: FieldEdit =
          switch content {
          case .value(let value): .write(value)
          case .count(let number): .count(CounterEdit(by: number))
          case .elements(let elements):
            .members(SetEdit(inserting: elements.sorted()))
          }
        transaction.apply(change, to: key(field), of: Self.id)
      }
    }
  }

  func key(_ field: String) -> FieldKey { episode.key(of: field) }

  /// Saves an edit on its device, at the time of that device's clock.
  mutating func save(_ edit: Episode.Edit) throws {
    guard let index = indices[edit.device] else { return }
    members[index].clock.now = edit.at
    try members[index].replica.save { transaction in
      if edit.isDeletion { return transaction.delete(Self.id) }
      for (field, change) in edit.fieldEdits(of: episode.kinds) {
        transaction.apply(change, to: key(field), of: Self.id)
      }
    }
  }

  /// Sends deltas from each device to every other one until no device lacks
  /// changes.
  ///
  /// Every device sends to every other one, so two rounds suffice. The number
  /// of rounds is limited, so that a bug in the library shows in the result and
  /// not as an endless loop.
  mutating func exchange(_ transmit: (Delta) -> Delta?) {
    for _ in 0...members.count {
      guard exchangeOnce(transmit) else { return }
    }
  }

  /// Delivers all saves of each device that arrives again a second time.
  ///
  /// - Parameter late: The deltas of the devices before any of them synced.
  mutating func repeatArrivals(_ late: [String: Delta]) {
    for device in episode.repeatedArrivals {
      guard let delta = late[device] else { continue }
      for (receiver, _) in members { list(receiver.apply(delta)) }
    }
  }

  private mutating func exchangeOnce(_ transmit: (Delta) -> Delta?) -> Bool {
    var hasSent = false
    for (sender, _) in members {
      for (receiver, _) in members where receiver !== sender {
        guard let unseen = sender.delta(since: receiver.version),
          let delta = transmit(unseen)
        else { continue }
        list(receiver.apply(delta))
        hasSent = true
      }
    }
    return hasSent
  }

  /// Records the values of the conflicts that a merge reports.
  private mutating func list(_ report: MergeReport) {
    for conflict in report.conflicts {
      let field = Episode.field(of: conflict.location.field)
      reported[field, default: []].insert(
        conflict.winner.value.map(Content.value))
      reported[field, default: []].insert(
        conflict.loser.value.map(Content.value))
    }
  }
}

extension RejoinTeam {
  /// All saves of each device that arrives again.
  var repeatedDeltas: [String: Delta] {
    episode.repeatedArrivals.reduce(into: [:]) { deltas, device in
      deltas[device] = indices[device].flatMap { members[$0].replica.delta() }
    }
  }

  /// The record of every replica, with the conflicts in its records and
  /// reports.
  var outcome: Outcome {
    let fields = episode.fields
    var outcome = Outcome(states: [], reported: reported)
    let devices = episode.devices
    outcome.waiting = Set(unsaved.keys.map { devices[$0] })
    for (index, (replica, _)) in members.enumerated() {
      if let state = unsaved[index] {
        outcome.states.append(state)
        continue
      }
      guard let record = replica.record(Self.id) else {
        outcome.states.append(nil)
        continue
      }
      for field in fields {
        outcome.kept[field, default: []].formUnion(
          record[episode.key(of: field)].writes.map {
            $0.value.map(Content.value)
          })
      }
      for conflict in contexts.isEmpty ? [] : contexts[index].pendingConflicts {
        for field in conflict.fields {
          let name = Episode.field(of: FieldKey(field.field, .register))
          let sides = [field.mine, field.store].map { $0.map(Content.value) }
          outcome.kept[name, default: []].formUnion(sides)
          // The queue of the context outlives the record.
          outcome.reported[name, default: []].formUnion(sides)
        }
      }
      outcome.states.append(record.exists ? shown(record, fields) : nil)
    }
    return outcome
  }

  private func shown(_ record: Record, _ fields: Set<String>) -> PlainRecord {
    var shown: PlainRecord = [:]
    for field in fields {
      let key = key(field)
      switch episode.kind(of: field) {
      case .counter: shown[field] = .count(record.count(of: key))
      case .set: shown[field] = .elements(Set(record.elements(of: key)))
      default: shown[field] = record.value(of: key).map(Content.value)
      }
    }
    return shown
  }
}
