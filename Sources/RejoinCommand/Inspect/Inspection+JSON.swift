// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

extension Inspection {
  /// The content of the message as JSON.
  ///
  /// Integers beyond `Int64` are strings. Digests, and the bit patterns of
  /// doubles, are hexadecimal.
  var json: JSONValue {
    var members: [Name: JSONValue] = [
      "kind": .text(summary.kind.name),
      "version": .text("\(WireKind.version)"),
      "sections": .object(
        summary.sections.reduce(into: [:]) {
          $0[Name($1.name)] = .int($1.byteCount)
        }),
    ]
    switch content {
    case .vectorClock, .replicaVersion, .token: break
    case .delta, .record, .stored:
      members["records"] = .array(changes.map(Inspection.json))
    }
    switch content {
    case .delta:
      members["intervals"] = .array(intervals.map(Inspection.json))
    case .record: break
    case .vectorClock, .replicaVersion, .stored, .token:
      members["clock"] = .array(clock.map(Inspection.json))
    }
    if case .token(let token) = content {
      members["pulls"] = .wide(token.pulls)
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
    if case .stored(let replica) = content {
      members["device"] = .text(replica.device.hexadecimal)
    }
    return .object(members)
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
    var members: [Name: JSONValue] =
      save.map(saveMembers) ?? ["n": .wide(sequence)]
    members["device"] = .text(device.hexadecimal)
    return .object(members)
  }

  private static func saveMembers(
    _ save: DeviceSave
  ) -> [Name: JSONValue] {
    var members: [Name: JSONValue] = [
      "n": .wide(save.sequence), "time": .wide(save.time.rawValue),
      "digest": .text(save.digest.hexadecimal),
    ]
    if save.isForked { members["forked"] = .scalar(.bool(true)) }
    return members
  }

  fileprivate static func json(_ clock: VectorClock) -> JSONValue {
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
    var members: [Name: JSONValue] = [
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

extension FieldState {
  /// The elements of the field's store.
  fileprivate func inspected(_ fragment: Fragment?) -> [JSONValue] {
    switch box {
    case .register: writes.map { .of($0) }
    case .counter(let field):
      field.store.entries.map { entry in
        let cancelled = field.store.cancelled.first {
          $0.device == entry.device
        }
        var members = JSONValue.members(entry)
        members["cancelled"] = cancelled.map { .object(JSONValue.members($0)) }
        return .object(members)
      }
    case .set(let field): field.store.inspected
    case .ledger(let field):
      field.store.lines.sorted { $0.key < $1.key }.map {
        .of($0, $1, isContinued: fragment?.continued.contains($0) ?? false)
      }
    case .existence:
      marks.map { mark in
        .object([
          "device": .text(mark.dot.device.hexadecimal),
          "n": .wide(mark.dot.sequence),
          "time": .wide(mark.time.rawValue),
          "covered": mark.covered.map { Inspection.json($0) }
            ?? .scalar(.null),
          "purge": .scalar(.bool(mark.isPurge)),
        ])
      }
    }
  }
}

extension DotMap {
  fileprivate var inspected: [JSONValue] {
    contents.map { element, marks in
      .object([
        "element": .tagged(element),
        "marks": .array(
          marks.map { mark in
            .object([
              "device": .text(mark.dot.device.hexadecimal),
              "n": .wide(mark.dot.sequence),
            ])
          }),
      ])
    }
  }
}

extension JSONValue {
  /// An integer, as a string if it does not fit `Int64`.
  fileprivate static func wide(_ number: some BinaryInteger) -> JSONValue {
    Int64(exactly: number).map { .scalar(.int($0)) } ?? .text("\(number)")
  }

  /// A value with the name of its type; `null` stands for an unset register.
  fileprivate static func tagged(_ value: Value?) -> JSONValue {
    guard let value else { return .scalar(.null) }
    return switch value {
    case .null: .object(["null": .scalar(.bool(true))])
    case .bool: .object(["bool": .scalar(value)])
    case .int: .object(["int": .scalar(value)])
    case .double(let number):
      .object(["double": .text(number.bitPattern.hexadecimal)])
    case .string(let text): .object(["string": .text(text)])
    case .bytes(let bytes):
      .object(["bytes": .array(bytes.map { .int($0) })])
    case .date(let number): .object(["date": .int(number)])
    case .reference(let id):
      .object(["reference": .array([.text(id.entity), .text(id.key)])])
    }
  }

  fileprivate static func of(_ write: RegisterWrite) -> JSONValue {
    .object([
      "device": .text(write.dot.device.hexadecimal),
      "n": .wide(write.dot.sequence),
      "time": .wide(write.time.rawValue), "value": .tagged(write.value),
    ])
  }

  fileprivate static func members(_ entry: PNCounter.Entry) -> [Name: JSONValue]
  {
    [
      "device": .text(entry.device.hexadecimal), "n": .wide(entry.sequence),
      "increments": .wide(entry.increments),
      "decrements": .wide(entry.decrements),
    ]
  }

  fileprivate static func of(
    _ device: DeviceID, _ line: DeviceEntries, isContinued: Bool
  ) -> JSONValue {
    var members: [Name: JSONValue] = [
      "device": .text(device.hexadecimal), "folded": .wide(line.folded),
      "foldedSum": .wide(line.foldedSum), "cancelled": .wide(line.cancelled),
      "cancelledSum": .wide(line.cancelledSum),
      "entries": .array(
        line.tail.map { entry in
          .object([
            "n": .wide(entry.sequence), "time": .wide(entry.time.rawValue),
            "amount": .wide(entry.amount), "memo": .tagged(entry.memo),
          ])
        }),
    ]
    if isContinued { members["continued"] = .scalar(.bool(true)) }
    return .object(members)
  }
}

extension UInt64 {
  /// The number as 16 hexadecimal digits.
  var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
