// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The records and fields of a script.
public struct ScriptUniverse: Sendable {
  /// The entities.
  public let schema: Schema
  /// The records.
  public let records: [RecordID]
  /// The fields of every record.
  public let fields: [FieldKey]

  /// Creates a universe.
  ///
  /// - Precondition: `records` and `fields` are not empty.
  public init(schema: Schema, records: [RecordID], fields: [FieldKey]) {
    precondition(
      !records.isEmpty && !fields.isEmpty, "a script needs records and fields")
    (self.schema, self.records, self.fields) = (schema, records, fields)
  }

  /// Every field of every record.
  public var locations: [FieldLocation] {
    records.flatMap { id in fields.map { FieldLocation(record: id, field: $0) }
    }
  }

  /// Two records whose updates win over deletions, and one whose deletions win.
  ///
  /// Each has a field of each kind and a quiet register.
  public static let standard: ScriptUniverse = {
    let quiet = FieldKey("lww", .register)
    let fields = FieldKind.allCases.map { FieldKey($0.rawValue, $0) } + [quiet]
    return ScriptUniverse(
      schema: Schema([
        "Note": .init(fields: Set(fields), quietFields: [quiet]),
        "Task": .init(
          fields: Set(fields), quietFields: [quiet], deletion: .deleteWins),
      ]),
      records: [
        RecordID("Note", "a"), RecordID("Note", "b"), RecordID("Task", "a"),
      ],
      fields: fields)
  }()
}
