// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import RejoinTesting

/// Compares snapshots of rows with a replica in memory.
struct SnapshotMirror {
  private let replica: Replica

  init(of replica: Replica) { self.replica = replica }

  /// The schemas of this version of the app, of an earlier one that lacks the
  /// entities, and of one with other rules and quiet fields.
  private var schemas: [Schema] {
    let entities = (0..<replica.current.recordCount).map {
      replica.current.recordID(at: $0).entity
    }.filter { !BuiltIn.isBuiltIn($0) }
    let others = Set(entities.map { SchemaName($0) }).map { entity in
      var other = replica.schema[entity.text]
      other.deletion =
        other.deletion == .updateWins ? .deleteWins : .updateWins
      other.quietFields = other.fields.filter { $0.kind == .register }
        .subtracting(other.quietFields)
      return (entity, other)
    }
    return [
      replica.schema, Schema([:]),
      Schema(Dictionary(uniqueKeysWithValues: others)),
    ]
  }

  /// Compares the rows of a scope with the replica under several schemas.
  func check(
    _ scope: String, on connection: any SQLConnection, named name: String
  ) throws(ScriptMismatch) {
    for schema in schemas {
      let view = ReplicaView(
        Replica(
          resuming: replica.current, schema: schema,
          wallClock: ManualClock().wallClock,
          makeDeviceID: { DeviceID(0) }))
      let result = Result {
        try StoreReader.read(scope, schema, on: connection) { snapshot in
          Result { () throws(ScriptMismatch) in
            try compare(snapshot, view, name)
          }
        }
      }
      switch result {
      case .success(let comparison): try comparison.get()
      case .failure(let error):
        throw ScriptMismatch("the rows of \(name) cannot be read: \(error)")
      }
    }
  }

  /// The content of a record, as a reader sees it.
  private struct Shown: Equatable {
    let exists: Bool
    let clock: VectorClock
    var states: [FieldKey: FieldState] = [:]
    var readings: [FieldKey: FieldReading] = [:]

    init(_ record: Record) {
      (exists, clock) = (record.exists, record.clock)
      for key in record.fields + [.existence] {
        states[key] = record[key]
        readings[key] = record.reading(of: key)
      }
    }
  }

  private func compare(
    _ snapshot: StoreReader.Snapshot, _ view: ReplicaView, _ name: String
  ) throws(ScriptMismatch) {
    let state = replica.current
    try agree("device in the rows of \(name)", snapshot.device, view.device)
    try agree(
      "version in the rows of \(name)", snapshot.version, state.version)
    let records = (0..<state.recordCount).map { state.recordID(at: $0) }
    for id in records + [RecordID("Note", "none"), RecordID("None", "a")] {
      try agree(
        "whether \(id) exists in the rows of \(name)", snapshot.exists(id),
        view.exists(id))
      try agree(
        "\(id) in the rows of \(name)", snapshot.record(id).map(Shown.init),
        view.record(id).map(Shown.init))
    }
    try agree(
      "all records in the rows of \(name)", snapshot.allRecordIDs,
      view.allRecordIDs)
    for entity in Set(records.map(\.entity)).union(["None"]).sorted() {
      try compareLists(snapshot, view, entity, records, name)
    }
  }

  private func compareLists(
    _ snapshot: StoreReader.Snapshot, _ view: ReplicaView, _ entity: String,
    _ records: [RecordID], _ name: String
  ) throws(ScriptMismatch) {
    try agree(
      "count of \(entity) in the rows of \(name)",
      snapshot.recordCount(of: entity), view.recordCount(of: entity))
    try agree(
      "conflicts of \(entity) in the rows of \(name)",
      snapshot.conflictedFields(of: entity), view.conflictedFields(of: entity))
    // Typed records need a declared entity.
    let isTyped =
      entity == Listed.entityName && !view.schema[entity].fields.isEmpty
    for start in [nil, ""] + records.map(\.key) {
      for limit in [nil, 0, 1] {
        let page =
          "\(limit ?? -1) of \(entity) after \(start ?? "nothing") in the rows "
          + "of \(name)"
        try agree(
          page, snapshot.recordIDs(of: entity, after: start, limit: limit),
          view.recordIDs(of: entity, after: start, limit: limit))
        guard isTyped else { continue }
        try agree(
          "typed " + page,
          snapshot.records(of: Listed.self, after: start, limit: limit)
            .map(Typed.init),
          view.records(of: Listed.self, after: start, limit: limit)
            .map(Typed.init))
      }
    }
  }

  /// The `Note` entity of the standard universe in a later version of the app,
  /// which changed the kinds of two fields.
  private struct Listed: Entity {
    static let entityName = "Note"
    let count = register(
      "counter", of: Int64.self, fallingBackTo: .counter { $0 })
    let values = set(
      "register", of: Value.self,
      fallingBackTo: .register(of: Value.self) { $0 })
    let elements = set("set", of: Value.self)
  }

  private struct Typed: Equatable {
    let shown: Shown
    let count: Int64?
    let values: [Value]
    let elements: [Value]

    init(_ record: TypedRecord<Listed>) {
      shown = Shown(record.record)
      (count, values) = (record.count, record.values)
      elements = record.elements
    }
  }
}
