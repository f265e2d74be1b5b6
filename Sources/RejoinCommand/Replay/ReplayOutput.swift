// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison
import RejoinPolicies
import RejoinTesting

/// The lines that a replay prints.
///
/// Tests in other languages read them: keys and formatting must not change.
enum ReplayOutput {
  /// The line of `show`: what a device shows.
  static func line(
    for replica: Replica, names: [DeviceID: String], showsBytes: Bool
  ) -> String {
    func name(_ device: DeviceID) -> String { names[device] ?? "\(device)" }
    let clock = replica.version.vectorClock.entries.map {
      (SchemaName(name($0.device)), JSONValue.int($0.count))
    }
    let records = replica.allRecordIDs.map {
      (SchemaName("\($0)"), record($0, in: replica))
    }
    var members: [SchemaName: JSONValue] = [
      "clock": .object(Dictionary(clock) { first, _ in first }),
      "device": .text(name(replica.device)),
      "gaps": .int(replica.latestMissingSaves.entries.count),
      "records": .object(Dictionary(records) { first, _ in first }),
    ]
    if showsBytes {
      let digest = replica.foldedBytes.digest
      members["bytes"] = .text(digest.hexadecimal)
    }
    return JSONValue.object(members).description
  }

  private static func record(
    _ id: RecordID, in replica: Replica
  ) -> JSONValue {
    guard let record = replica.record(id) else { return .object([:]) }
    let entity = replica.schema[id.entity]
    return .object(
      entity.fields.intersection(record.fields).reduce(into: [:]) {
        members, key in
        members[SchemaName(key.name)] = field(
          key, of: record, isQuiet: entity.quietFields.contains(key))
      })
  }

  private static func field(
    _ key: FieldKey, of record: Record, isQuiet: Bool
  ) -> JSONValue? {
    switch key.kind {
    case .register where isQuiet:
      let value = record.value(of: key)
      let position = value.flatMap(Position.init)
      return position.map { .text("\($0)") } ?? value.map { JSONValue($0) }
    case .register:
      var members: [SchemaName: JSONValue] = [:]
      members["value"] = record.value(of: key).map { JSONValue($0) }
      let conflicts = record.conflictingValues(of: key)
      let values = conflicts.compactMap(\.self).map { JSONValue($0) }
      if !values.isEmpty { members["conflicts"] = .array(values) }
      if conflicts.contains(nil) {
        members["unsetConflict"] = JSONValue(.bool(true))
      }
      return members.isEmpty ? nil : .object(members)
    case .counter: return .int(record.count(of: key))
    case .set:
      return .array(record.elements(of: key).map { JSONValue($0) })
    case .ledger: return .object(["total": .int(record.total(of: key))])
    case .existence: return nil
    }
  }

  /// The lines for the faults in a report, each with a device and the number of
  /// a save.
  ///
  /// The lines of forked and reactivated devices print their last known save.
  static func lines(
    for report: MergeReport, of replica: Replica, names: [DeviceID: String]
  ) -> [String] {
    func fault(_ error: String, _ dot: Dot) -> String {
      JSONValue.object([
        "error": .text(error), "n": .int(dot.sequence),
        "device": .text(names[dot.device] ?? "\(dot.device)"),
      ]).description
    }
    func last(_ devices: Set<DeviceID>) -> [Dot] {
      devices.sorted().map { Dot($0, replica.version[$0].sequence) }
    }
    return report.equivocations.sorted().map { fault("equivocation", $0) }
      + last(report.forkedDevices).map { fault("forked", $0) }
      + [report.lastSaveBeforeRollback].compactMap { $0 }.map {
        fault("rollback", $0)
      }
      + last(report.reactivatedDevices).map { fault("reactivated", $0) }
  }

  /// The line for a backup that was opened as a new device.
  static func line(
    for change: Replica.DeviceChange, restoring backup: String,
    names: [DeviceID: String]
  ) -> String {
    func name(_ device: DeviceID) -> JSONValue {
      .text(names[device] ?? "\(device)")
    }
    return JSONValue.object([
      "restore": .text(backup), "old": name(change.old),
      "new": name(change.new),
    ]).description
  }

  /// The line for a save of a context.
  static func line(
    for report: ContextReport, of id: RecordID, context: String
  ) -> String {
    line(
      context, wrote: report.writtenFields[id] ?? [],
      conflicts: Set(report.conflicts.flatMap(\.contestedNames)))
  }

  /// The line for a save that `MergePolicy.error` refused.
  static func line(for conflict: MergeConflictError, context: String) -> String
  {
    line(
      context, wrote: [],
      conflicts: Set(conflict.conflicts.flatMap(\.contestedNames)))
  }

  private static func line(
    _ context: String, wrote: Set<SchemaName>, conflicts: Set<SchemaName>
  ) -> String {
    func list(_ names: Set<SchemaName>) -> JSONValue {
      .array(names.sorted().map { .text($0.text) })
    }
    return JSONValue.object([
      "commit": .text(context), "wrote": list(wrote),
      "conflicts": list(conflicts),
    ]).description
  }

  /// The line for the fields that an undo leaves unchanged, and for the records
  /// that it does not delete or restore.
  static func line(for left: [FieldLocation]) -> String {
    let names = left.map { location in
      location.field == .existence
        ? "\(location.record)" : "\(location.record).\(location.field.name)"
    }
    return JSONValue.object(["left": .array(names.map { .text($0) })])
      .description
  }

  /// The line where there is nothing to undo, or to redo.
  static func lineForNothing(toRedo again: Bool) -> String {
    JSONValue.object([
      "error": .text(again ? "nothingToRedo" : "nothingToUndo")
    ]).description
  }

  /// The line for a save that the replica refused.
  static func line(for error: SaveError) -> String {
    JSONValue.object([
      "error": .text(error.name), "message": .text(error.description),
    ]).description
  }
}

extension SaveError {
  /// The name of the error in the output.
  fileprivate var name: String {
    switch self {
    case .clockExhausted: "clockExhausted"
    case .numbersExhausted: "numbersExhausted"
    case .counterOverflow: "counterOverflow"
    case .emptyKey: "emptyKey"
    case .keyTooLong: "keyTooLong"
    case .serverNameTooLong: "serverNameTooLong"
    case .recordTooLarge: "recordTooLarge"
    case .positionTooLong: "positionTooLong"
    case .purged: "purged"
    case .observedKind: "observedKind"
    case .identityInUse: "identityInUse"
    }
  }
}

extension [UInt8] {
  /// A 64-bit digest of the bytes (FNV-1a), short enough to print.
  fileprivate var digest: UInt64 {
    reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
