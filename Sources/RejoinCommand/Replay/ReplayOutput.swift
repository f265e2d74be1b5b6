//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import RejoinComparison
import RejoinPolicies

/// The lines that a replay prints.
enum ReplayOutput {
  /// What a device sees.
  static func line(
    for replica: Replica, names: [DeviceID: String], showsBytes: Bool
  ) -> String {
    func name(_ device: DeviceID) -> String { names[device] ?? "\(device)" }
    let clock = replica.clock.vector.entries.map {
      (Name(name($0.device)), JSONValue.int($0.count))
    }
    let records = replica.allRecords.map {
      (Name("\($0)"), record(replica.fetch($0), of: $0, in: replica))
    }
    var members: [Name: JSONValue] = [
      "clock": .object(Dictionary(clock) { first, _ in first }),
      "device": .text(name(replica.device)),
      "gaps": .int(replica.missing.entries.count),
      "records": .object(Dictionary(records) { first, _ in first }),
    ]
    if showsBytes {
      let digest = replica.encoded(foldingLedgers: true).digest
      members["bytes"] = .text(digest.hexadecimal)
    }
    return JSONValue.object(members).description
  }

  private static func record(
    _ record: FetchedRecord, of id: RecordID, in replica: Replica
  ) -> JSONValue {
    let declared = replica.schema[id.entity].fields
    return .object(
      declared.reduce(into: [:]) { members, key in
        members[Name(key.name)] = record.fields[key].flatMap(field)
      })
  }

  private static func field(_ state: FieldState) -> JSONValue? {
    switch state {
    case .register(let field):
      var members: [Name: JSONValue] = [:]
      members["value"] = state.value.map { JSONValue($0) }
      let conflicts = field.store.conflicts
      if !conflicts.isEmpty {
        members["conflicts"] = .array(conflicts.map { JSONValue($0) })
      }
      return members.isEmpty ? nil : .object(members)
    case .lww: return state.value.map { JSONValue($0) }
    case .counter: return .int(state.count)
    case .set, .removeWinsSet:
      return .array(state.elements.map { JSONValue($0) })
    case .ledger: return .object(["total": .int(state.total)])
    }
  }

  /// The faults of a merge.
  static func lines(
    for report: MergeReport, names: [DeviceID: String]
  ) -> [String] {
    func fault(_ error: String, _ device: DeviceID, _ n: UInt64?) -> String {
      var members: [Name: JSONValue] = [
        "error": .text(error), "device": .text(names[device] ?? "\(device)"),
      ]
      members["n"] = n.map { .int($0) }
      return JSONValue.object(members).description
    }
    var lines = report.equivocations.sorted().map {
      fault("equivocation", $0.device, $0.n)
    }
    if let retired = report.retired {
      lines.append(fault("retired", retired, nil))
    }
    return lines
  }

  /// What a context's save did.
  static func line(
    for report: ContextReport, of id: RecordID, context: String
  ) -> String {
    line(
      context, wrote: report.written[id] ?? [],
      conflicts: Set(report.conflicts.flatMap(\.contestedNames)))
  }

  /// A save that was refused for its conflicts.
  static func line(for conflict: MergeConflict, context: String) -> String {
    line(
      context, wrote: [],
      conflicts: Set(conflict.conflicts.flatMap(\.contestedNames)))
  }

  private static func line(
    _ context: String, wrote: Set<Name>, conflicts: Set<Name>
  ) -> String {
    func list(_ names: Set<Name>) -> JSONValue {
      .array(names.sorted().map { .text($0.text) })
    }
    return JSONValue.object([
      "commit": .text(context), "wrote": list(wrote),
      "conflicts": list(conflicts),
    ]).description
  }

  /// A save that was refused.
  static func line(for error: SaveError) -> String {
    JSONValue.object([
      "error": .text(error.name), "message": .text(error.description),
    ]).description
  }
}

extension SaveError {
  /// The name of the error in a replay's output.
  fileprivate var name: String {
    switch self {
    case .clockExhausted: "clockExhausted"
    case .numbersExhausted: "numbersExhausted"
    case .counterOverflow: "counterOverflow"
    case .registerExhausted: "registerExhausted"
    case .identityInUse: "identityInUse"
    }
  }
}

extension [UInt8] {
  /// A digest of 64 bits (FNV-1a), by which bytes are compared in print.
  fileprivate var digest: UInt64 {
    reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
