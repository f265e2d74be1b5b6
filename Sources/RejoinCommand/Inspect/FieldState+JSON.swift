// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

extension FieldState {
  /// The value that the field shows, and the number of its other siblings.
  var shown: String {
    switch kind {
    case .register:
      (value.map { "\($0)" } ?? "unset")
        + (writes.count > 1 ? " and \(writes.count - 1) more" : "")
    case .counter: "\(count)"
    case .set:
      "{" + elements.map { "\($0)" }.joined(separator: ", ") + "}"
    case .ledger: "total \(total)"
    case .existence:
      marks.map { mark in
        mark.kind == .alive
          ? "alive" : "\(mark.kind.inspected), seen \(mark.seen)"
      }.joined(separator: "; ")
    }
  }
}

extension FieldState {
  /// The elements of the field's store.
  func inspected(_ fragment: Fragment?) -> [JSONValue] {
    switch box {
    case .register: writes.map { .of($0) }
    case .counter(let field):
      field.store.entries.map { entry in
        var members: [SchemaName: JSONValue] = [
          "device": .text(entry.device.hexadecimal), "n": .wide(entry.sequence),
          "increments": .wide(entry.increments),
          "decrements": .wide(entry.decrements),
        ]
        let canceled = field.store.canceled.first { $0.device == entry.device }
        members["canceled"] = canceled.map { .of($0.decision) }
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
          "kind": .text(mark.kind.inspected),
          "final": .scalar(.bool(mark.isFinal)),
          "seen": mark.kind == .alive
            ? .scalar(.null) : Inspection.json(mark.seen),
        ])
      }
    }
  }
}

extension RecordMark.Kind {
  fileprivate var inspected: String {
    switch self {
    case .alive: "alive"
    case .deletion: "deleted"
    case .purgeAnnouncement: "purge announced"
    case .purge: "purged"
    }
  }
}

extension ORSetStore {
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
  static func wide(_ number: some BinaryInteger) -> JSONValue {
    Int64(exactly: number).map { .scalar(.int($0)) } ?? .text("\(number)")
  }

  /// A sum, as a string if it does not fit `Int64`.
  fileprivate static func wide(_ sum: WideInt) -> JSONValue {
    let number = Int64(clamping: sum)
    return WideInt(number) == sum ? .scalar(.int(number)) : .text("\(sum)")
  }

  /// A value with the name of its type, or `null` for an unset register.
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

  fileprivate static func of(_ decision: Cancellation) -> JSONValue {
    .object([
      "decided": .wide(decision.decided), "turns": .wide(decision.turns),
      "canceled": .wide(decision.canceled), "sum": .wide(decision.sum),
    ])
  }

  fileprivate static func of(
    _ device: DeviceID, _ line: DeviceEntries, isContinued: Bool
  ) -> JSONValue {
    var members: [SchemaName: JSONValue] = [
      "device": .text(device.hexadecimal), "folded": .wide(line.folded),
      "foldedSum": .wide(line.foldedSum),
      "entries": .array(
        line.tail.map { entry in
          .object([
            "n": .wide(entry.sequence), "time": .wide(entry.time.rawValue),
            "amount": .wide(entry.amount), "memo": .tagged(entry.memo),
          ])
        }),
    ]
    if line.cancellation.decided > 0 {
      members["canceled"] = .of(line.cancellation)
    }
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
