// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Synchronization

/// The replicas of an episode's devices.
struct RejoinTeam {
  private let episode: Episode
  /// A replica and its wall clock for each device, in the order of arrival.
  private var members: [(replica: Replica, clock: SetClock)] = []
  /// The index in `members`, by device.
  private var places: [String: Int] = [:]
  /// The contexts of the devices; empty if edits are saved at once.
  private var contexts: [EditingContext] = []
  /// What the contexts show whose policy has refused to save.
  private var unsaved: [Int: PlainRecord?] = [:]
  /// The values that reports and errors have told, by register.
  private var reported: [String: Set<Value?>] = [:]

  private static let id = RecordID("Episode", "record")

  private static func noDevice() -> DeviceID {
    preconditionFailure("no device of an episode is restored or cloned")
  }

  /// Creates the replicas.
  ///
  /// - Parameter policy: That of the devices' contexts; `nil` for none.
  init(
    _ episode: Episode, deletion: DeletionRule = .updateWins,
    policy: MergePolicy? = nil
  ) throws {
    self.episode = episode
    // The library compares device IDs: numbered by name, they order like names.
    let ranks = episode.devices.sorted().enumerated()
    let numbers = Dictionary(
      uniqueKeysWithValues: ranks.map { ($1, UInt64($0 + 1)) })
    let schema = Schema([
      "Episode": .init(fields: Set(episode.keys), deletion: deletion)
    ])
    for device in episode.devices.isEmpty ? [""] : episode.devices {
      let clock = SetClock()
      let replica = Replica(
        device: DeviceID(numbers[device] ?? 1),
        schema: schema, wallClock: WallClock { clock.now },
        makeDeviceID: RejoinTeam.noDevice)
      places[device] = members.count
      members.append((replica, clock))
      try importBase(into: replica)
      if let policy {
        let context = EditingContext(replica, mergePolicy: policy)
        context.fetch(Self.id)
        contexts.append(context)
      }
    }
  }

  private func importBase(into replica: Replica) throws {
    guard let base = episode.base else { return }
    try replica.import { transaction in
      transaction.touch(Self.id)
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

  private func key(_ field: String) -> FieldKey { episode.key(of: field) }

  /// Saves an edit on its device, at the time of that device's clock.
  mutating func save(_ edit: Episode.Edit) throws {
    guard let place = places[edit.device] else { return }
    members[place].clock.set(edit.at)
    try members[place].replica.save { transaction in
      if edit.isDeletion { return transaction.delete(Self.id) }
      for (field, change) in edit.fieldEdits(of: episode.kinds) {
        transaction.apply(change, to: key(field), of: Self.id)
      }
    }
  }

  /// Sends deltas from each device to every other until none has unseen
  /// changes.
  ///
  /// As every device sends to every other, two rounds suffice. The number of
  /// rounds is bounded so that a fault of the library shows in the result, not
  /// in an endless loop.
  mutating func exchange(_ transmit: (Delta) -> Delta?) {
    for _ in 0...members.count {
      guard exchangeOnce(transmit) else { return }
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

  /// Lists the values of the conflicts that merging reports.
  private mutating func list(_ report: MergeReport) {
    for conflict in report.conflicts {
      let field = Episode.field(of: conflict.location.field)
      reported[field, default: []].insert(conflict.winner.value)
      reported[field, default: []].insert(conflict.loser.value)
    }
  }
}

extension RejoinTeam {
  /// Edits in the context of a device.
  mutating func edit(_ edit: Episode.Edit) {
    guard let place = places[edit.device] else { return }
    members[place].clock.set(edit.at)
    if edit.isDeletion { return contexts[place].delete(Self.id) }
    for (field, change) in edit.fieldEdits(of: episode.kinds) {
      contexts[place].apply(change, to: key(field), in: Self.id)
    }
  }

  /// Saves the context of a device, unless its policy refuses.
  mutating func saveContext(of device: String) throws {
    guard let place = places[device] else { return }
    let report: ContextReport
    do {
      report = try contexts[place].save()
    } catch {
      guard case .conflict(let refused) = error else { throw error }
      for field in refused.conflicts.flatMap(\.fields) {
        note(field.mine, FieldKey(field.field, .register))
        note(field.store, FieldKey(field.field, .register))
      }
      unsaved.updateValue(shown(in: contexts[place], device), forKey: place)
      return
    }
    for dropped in report.dropped {
      guard let key = dropped.field else { continue }
      switch dropped.content {
      case .value(let lost, _): note(lost.value, key)
      case .overwritten(let state):
        for write in state.writes { note(write.payload.value, key) }
      case .edit(.write(let value)): note(value, key)
      case .edit, .deletion, .creation: break
      }
    }
  }

  /// What a device shows that could not save; `nil` if it has deleted the record.
  private func shown(
    in context: EditingContext, _ device: String
  ) -> PlainRecord? {
    let last = episode.uploads.last { $0.device == device }
    guard last?.after != nil else { return nil }
    var shown: PlainRecord = [:]
    for key in episode.keys {
      let field = Episode.field(of: key)
      switch key.kind {
      case .counter: shown[field] = .count(context.count(of: key, in: Self.id))
      case .set:
        shown[field] = .elements(Set(context.elements(of: key, in: Self.id)))
      default:
        shown[field] = context.value(of: key, in: Self.id).map(Content.value)
      }
    }
    return shown
  }

  private mutating func note(_ value: Value?, _ key: FieldKey) {
    reported[Episode.field(of: key), default: []].insert(value)
  }
}

extension RejoinTeam {
  /// What every replica shows, with the conflicts that its records and reports
  /// list.
  var outcome: Outcome {
    let fields = Set((episode.base ?? [:]).keys).union(episode.changedFields)
    var outcome = Outcome(states: [], reported: reported)
    outcome.isBlocked = !unsaved.isEmpty
    for (place, (replica, _)) in members.enumerated() {
      if let state = unsaved[place] {
        outcome.states.append(state)
        continue
      }
      guard let record = replica.record(Self.id) else {
        outcome.states.append(nil)
        continue
      }
      let held = replica.fetch(Self.id)
      for field in fields {
        outcome.kept[field, default: []].formUnion(
          held[episode.key(of: field)].writes.map(\.payload.value))
      }
      for conflict in contexts.isEmpty ? [] : contexts[place].conflicts {
        for field in conflict.fields {
          let name = Episode.field(of: FieldKey(field.field, .register))
          outcome.kept[name, default: []].formUnion([field.mine, field.store])
        }
      }
      outcome.states.append(record.exists ? shown(record, fields) : nil)
    }
    return outcome
  }

  private func shown(_ record: Record, _ fields: Set<String>) -> PlainRecord {
    var shown: PlainRecord = [:]
    for field in fields {
      let name = key(field).name
      switch episode.kind(of: field) {
      case .counter: shown[field] = .count(record.count(of: name))
      case .set: shown[field] = .elements(Set(record.elements(of: name)))
      default: shown[field] = record.value(of: name).map(Content.value)
      }
    }
    return shown
  }
}

/// A wall clock that shows the time it was set to.
private final class SetClock: Sendable {
  private let time = Atomic<Int64>(0)

  var now: Int64 { time.load(ordering: .relaxed) }

  func set(_ now: Int64) { time.store(now, ordering: .relaxed) }
}
