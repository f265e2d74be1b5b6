// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A value that a later version of the app reads from a field of another kind.
public struct OlderReading: Hashable {
  let value: Value
  let saves: [Dot]
  let time: Timestamp?
}

/// The reading of a field by a later version of the app, which declares the
/// field with another kind.
public struct LaterReading: Hashable {
  /// The value of the field, or its elements if it is a set.
  var shown: [Value] = []
  var older: [OlderReading] = []
}

/// A later version of an entity, which declares one field with other kinds.
private struct LaterVersion: Entity {
  let asSet: Field<LaterVersion, ORSet<Value>>
  let asRegister: Field<LaterVersion, MVRegister<Value>>

  init() { self.init(of: "") }

  init(of name: String) {
    asSet = Self.set(
      name, of: Value.self,
      fallingBackTo: .register(of: Value.self) { $0 }, .counter { .int($0) })
    asRegister = Self.register(
      name, of: Value.self,
      fallingBackTo: .set(of: Value.self) { $0 }, .counter { .int($0) })
  }
}

/// The `Note` entity of the standard universe, without its fields.
private struct Note: Entity {}

extension TestedLibrary {
  public func laterReading(of location: FieldLocation) -> LaterReading? {
    let fields = DeclaredFields(LaterVersion(of: location.field.name))
    guard
      let record = ReplicaView(replica).record(location.record)?.typed(fields)
    else {
      return LaterReading()
    }
    func reading(
      _ shown: [Value], _ older: [OlderValue<Value>]
    ) -> LaterReading {
      LaterReading(
        shown: shown,
        older: older.map {
          OlderReading(value: $0.value, saves: $0.saves, time: $0.time)
        })
    }
    return switch location.field.kind {
    case .register:
      reading(record.asSet, record.olderValues(of: \.asSet))
    case .set, .counter:
      reading(
        record.asRegister.map { [$0] } ?? [],
        record.olderValues(of: \.asRegister))
    case .ledger, .existence: nil
    }
  }

  /// Compares the list of typed records with the list of record IDs.
  func checkRecords(
    _ list: [RecordID], named name: String
  ) throws(ScriptMismatch) {
    guard let entity = list.first?.entity, entity == Note.entityName else {
      return
    }
    let view = ReplicaView(replica)
    try agree(
      "records of \(entity) on \(name)",
      view.records(of: Note.self).map(\.record.id), list)
    for start in list.map(\.key) {
      try agree(
        "records of \(entity) after \(start) on \(name)",
        view.records(of: Note.self, after: start, limit: 1).map(\.id),
        view.recordIDs(of: Note.self, after: start, limit: 1).map(\.key))
    }
  }
}

extension OracleField {
  /// The expected reading by a later version of the app, if the record exists.
  var laterReading: LaterReading? {
    switch kind {
    case .register:
      LaterReading(
        shown: write?.value.map { [$0] } ?? [],
        older: siblings.sorted { ($1.time, $1.dot) < ($0.time, $0.dot) }
          .compactMap { write in
            write.value.map {
              OlderReading(value: $0, saves: [write.dot], time: write.time)
            }
          })
    case .counter:
      LaterReading(
        shown: hasContent ? [.int(count)] : [],
        older: hasContent
          ? [OlderReading(value: .int(count), saves: lastChanges, time: nil)]
          : [])
    case .set:
      LaterReading(
        shown: elements.first.map { [$0] } ?? [],
        older: insertions.sorted { $0.key < $1.key }.map {
          OlderReading(value: $0, saves: $1.sorted(), time: nil)
        })
    case .ledger, .existence: nil
    }
  }
}
