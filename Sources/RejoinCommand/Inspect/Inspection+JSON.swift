// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison
import RejoinSync

extension Inspection {
  /// The content of the message as JSON.
  ///
  /// Integers beyond `Int64` are strings. Digests, and the bit patterns of
  /// doubles, are hexadecimal.
  var json: JSONValue {
    var members: [SchemaName: JSONValue] = [
      "kind": .text(summary.kind.name),
      "version": .text("\(WireKind.version)"),
      "sections": .object(
        summary.sections.reduce(into: [:]) {
          $0[SchemaName($1.name)] = .int($1.byteCount)
        }),
    ]
    switch content {
    case .vectorClock, .replicaVersion, .token, .undoStep, .exchange: break
    case .delta, .stored:
      members["records"] = .array(changes.map(Inspection.json))
    }
    switch content {
    case .delta(let delta):
      members["intervals"] = .array(intervals.map(Inspection.json))
      if let range = delta.range {
        let ends = [("after", range.after), ("through", range.through)]
        members["range"] = .object(
          ends.reduce(into: [:]) {
            $0[SchemaName($1.0)] = $1.1.map(Inspection.json)
          })
      }
    case .vectorClock, .replicaVersion, .stored, .token:
      members["clock"] = .array(clock.map(Inspection.json))
    case .undoStep: break
    case .exchange(let message, let shown, let part):
      members.merge(
        Inspection.members(of: message, shown: shown, part: part)
      ) { $1 }
    }
    if case .token(let token) = content {
      members["pulls"] = .wide(token.pullCount)
    }
    if case .replicaVersion(let clock) = content {
      members["stabilityCut"] = Inspection.json(clock.stabilityCut)
      members["fieldsAhead"] = .array(
        clock.fieldsAhead.sorted { $0.key < $1.key }.map { digest, saves in
          .object([
            "field": .text(digest.hexadecimal), "saves": Inspection.json(saves),
          ])
        })
    }
    if !prefixes.isEmpty {
      members["prefixes"] = .array(
        prefixes.map { prefix in
          .object([
            "through": Inspection.json(prefix.through),
            "clock": .array(
              prefix.saves.entries.map { Inspection.json($0, $1, $1.sequence) }),
          ])
        })
    }
    if case .stored(let replica) = content {
      members["device"] = .text(replica.device.hexadecimal)
    }
    return .object(members)
  }

  /// The members of a message of an exchange.
  private static func members(
    of message: SyncMessage, shown: [Inspection], part: [Inspection]
  ) -> [SchemaName: JSONValue] {
    let (number, seconds) = message.refusal?.code ?? (0, 0)
    var members: [SchemaName: JSONValue] = [
      "scope": .text(message.scope), "refusal": .wide(number),
      "seconds": .wide(seconds), "byteLimit": .int(message.byteLimit),
    ]
    members["device"] = message.device.map { .text($0.hexadecimal) }
    for (name, content) in [("shown", shown), ("part", part)] {
      guard case .object(var nested) = content.first?.json else { continue }
      nested["sections"] = nil
      members[SchemaName(name)] = .object(nested)
    }
    return members
  }

  /// The prefixes of a version.
  private var prefixes: [ReplicaVersion.Prefix] {
    switch content {
    case .replicaVersion(let version): version.prefixes
    case .stored(let replica): replica.version.prefixes
    case .vectorClock, .delta, .token, .undoStep, .exchange: []
    }
  }

  private static func json(_ id: RecordID) -> JSONValue {
    .array([.text(id.entity), .text(id.key)])
  }

  private static func json(
    _ device: DeviceID, _ interval: Delta.Interval
  ) -> JSONValue {
    var members = saveMembers(interval.to)
    members["device"] = .text(device.hexadecimal)
    members["from"] = .wide(interval.from)
    return .object(members)
  }

  private static func json(
    _ device: DeviceID, _ save: DeviceSave?, _ sequence: UInt64
  ) -> JSONValue {
    var members: [SchemaName: JSONValue] =
      save.map(saveMembers) ?? ["n": .wide(sequence)]
    members["device"] = .text(device.hexadecimal)
    return .object(members)
  }

  private static func saveMembers(
    _ save: DeviceSave
  ) -> [SchemaName: JSONValue] {
    var members: [SchemaName: JSONValue] = [
      "n": .wide(save.sequence), "time": .wide(save.time.rawValue),
      "digest": .text(save.digest.hexadecimal),
    ]
    if save.isForked { members["forked"] = .scalar(.bool(true)) }
    return members
  }

  static func json(_ clock: VectorClock) -> JSONValue {
    .array(clock.entries.map { json($0.device, nil, $0.count) })
  }

  private static func json(_ change: Delta.Change) -> JSONValue {
    .object([
      "entity": .text(change.id.entity), "key": .text(change.id.key),
      "fields": .array(
        Inspection.fields(of: change).map {
          json($0.key, $0.state, $0.fragment)
        }),
    ])
  }

  private static func json(
    _ key: FieldKey, _ state: FieldState, _ fragment: Fragment?
  ) -> JSONValue {
    var members: [SchemaName: JSONValue] = [
      "name": .text(key.name), "kind": .text(key.kind.rawValue),
      "clock": json(state.clock),
    ]
    members["variant"] = key.variant.map { .text($0) }
    members["content"] = .array(state.inspected(fragment))
    if let fragment {
      members["basis"] = json(fragment.basis)
      members["whole"] = .scalar(.bool(fragment.isWhole))
    }
    return .object(members)
  }
}
