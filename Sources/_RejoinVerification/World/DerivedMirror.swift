// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore

/// The name of an entity of scripts.
private protocol ListedName: Sendable { static var name: String { get } }
private enum NoteName: ListedName { static let name = "Note" }
private enum TaskName: ListedName { static let name = "Task" }

/// The fields that scripts edit, as an app declares them.
private struct Listed<Name: ListedName>: Entity {
  static var entityName: String { Name.name }
  let value = register("register", of: Value.self)
  let text = register("register", of: String.self)
  let quiet = lww("lww", of: Value.self)
  let name = register("name", of: Value.self)
  let number = counter("counter")
  let count = counter("count")
  let elements = set("set", of: Value.self)
  let log = ledger("ledger")

  static var table: RecordTable {
    RecordTable(of: Self.self, "the_\(entityName)") {
      $0.column("value", \.value)
      $0.column("text", \.text)
      $0.column("quiet", \.quiet)
      $0.column("name", \.name)
      $0.column("number", \.number)
      $0.column("count", \.count)
      $0.column("elements", \.elements)
      $0.column("log", \.log)
      $0.conflictCount("conflicts")
    }
  }
}

/// Compares what a store derives from its records with the records: its tables, a
/// table of an app, and lists.
final class DerivedMirror {
  private let replica: Replica
  private let pending: PendingChanges
  /// The signals that keep the observer registered.
  private let signals: AsyncStream<Void>
  private var notes: ComparedLists<NoteName>?
  private var tasks: ComparedLists<TaskName>?

  init(of scope: StoredScope) {
    replica = scope.replica
    (pending, signals) = scope.observers.observe()
    notes = ComparedLists(replica)
    tasks = ComparedLists(replica)
  }

  /// The declared tables of a schema's entities.
  static func tables(of schema: Schema) -> [RecordTable] {
    [Listed<NoteName>.table, Listed<TaskName>.table].filter {
      schema.entities[SchemaName($0.entityName)] != nil
    }
  }

  /// Keeps a table of the app that has the keys of the existing records.
  static let writer: TableWriter = { connection, changes in
    do {
      if changes.isRebuild {
        try connection.run("DROP TABLE IF EXISTS keys")
        try connection.run("CREATE TABLE keys (entity TEXT, key TEXT)")
      }
      for change in changes.all {
        try connection.run(
          "DELETE FROM keys WHERE entity = $1 AND key = $2",
          .text(change.id.entity), .text(change.id.key))
        guard change.new?.exists ?? false else { continue }
        try connection.run(
          "INSERT INTO keys VALUES ($1, $2)", .text(change.id.entity),
          .text(change.id.key))
      }
    } catch let error as SQLError { throw StoreError.notDurable(error) }
  }

  /// - Parameter reading: A closure that returns the reading of a field.
  func check(
    _ connection: any SQLConnection, named name: String,
    reading: (FieldLocation) -> FieldReading
  ) throws(ScriptMismatch) {
    if let changes = pending.take() {
      notes?.apply(changes)
      tasks?.apply(changes)
    }
    try notes?.check(replica, named: name)
    try tasks?.check(replica, named: name)
    for table in Self.tables(of: replica.schema) {
      let ids = replica.recordIDs(of: table.entityName)
      let quiet = replica.schema[table.entityName].quietFields
      let registers = replica.schema[table.entityName].fields
        .filter { $0.kind == .register && !quiet.contains($0) }
      let expected = ids.map { id in
        row(of: id, conflictsOf: registers, reading)
      }
      try agree(
        "the table of \(table.entityName) on \(name)",
        rows("SELECT * FROM \(table.name) ORDER BY id", 10, on: connection),
        expected)
    }
    try agree(
      "the app's table on \(name)",
      rows("SELECT entity, key FROM keys ORDER BY 1, 2", 2, on: connection),
      replica.allRecordIDs.map { [.text($0.entity), .text($0.key)] })
  }

  private func rows(
    _ sql: String, _ count: Int, on connection: any SQLConnection
  ) throws(ScriptMismatch) -> [[SQLValue]] {
    do { return try connection.rows(sql, count) } catch {
      throw ScriptMismatch("\(sql) fails: \(error)")
    }
  }

  private func row(
    of id: RecordID, conflictsOf registers: Set<FieldKey>,
    _ reading: (FieldLocation) -> FieldReading
  ) -> [SQLValue] {
    func read(_ name: String, _ kind: FieldKind) -> FieldReading {
      reading(FieldLocation(record: id, field: FieldKey(name, kind)))
    }
    let value = read("register", .register).value
    let text: SQLValue =
      if case .string(let text) = value { .text(text) } else { .null }
    let conflicts = registers.count {
      !reading(FieldLocation(record: id, field: $0)).conflicts.isEmpty
    }
    return [
      .text(id.key), sql(value), text, sql(read("lww", .register).value),
      sql(read("name", .register).value),
      .integer(read("counter", .counter).count),
      .integer(read("count", .counter).count),
      .text(json(read("set", .set).elements)),
      .integer(read("ledger", .ledger).total), .integer(Int64(conflicts)),
    ]
  }

  private func sql(_ value: Value?) -> SQLValue {
    switch value {
    case nil, .null: .null
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .int(let number), .date(let number): .integer(number)
    case .double(let number): .double(number)
    case .string(let text): .text(text)
    case .bytes(let bytes): .bytes(bytes)
    case .reference(let id): .text(id.key)
    }
  }

  /// Returns the elements in JSON.
  ///
  /// Scripts use no text that JSON escapes.
  private func json(_ elements: [Value]) -> String {
    let list = elements.map { element in
      switch element {
      case .reference(let id): "\"\(id.key)\""
      case .date(let number): "\(number)"
      default: "\(element)"
      }
    }
    return "[\(list.joined(separator: ","))]"
  }
}

/// Lists of an entity's records, which follow changes.
private struct ComparedLists<Name: ListedName> {
  private typealias Owner = Listed<Name>

  private var all = ListContent<Owner>(
    { _ in true }, ListOrder(by: \.value, .forward))
  private var counted = ListContent<Owner>(
    { $0.number >= 0 && $0.text != "x" }, ListOrder(by: \.number, .reverse))

  /// Creates the lists, or returns `nil` without the entity.
  init?(_ replica: Replica) {
    guard replica.schema.entities[SchemaName(Owner.entityName)] != nil else {
      return nil
    }
    let records = replica.records(of: Owner.self)
    all.load(records)
    counted.load(records)
  }

  mutating func apply(_ changes: RecordChanges) {
    all.apply(changes)
    counted.apply(changes)
  }

  func check(
    _ replica: Replica, named name: String
  ) throws(ScriptMismatch) {
    let records = replica.records(of: Owner.self)
    try agree(
      "the list of \(Owner.entityName) on \(name)", all.elements,
      records.sorted { a, b in
        guard let x = a.value else { return b.value == nil && a.id < b.id }
        guard let y = b.value else { return true }
        return x == y ? a.id < b.id : x < y
      })
    try agree(
      "the filtered list of \(Owner.entityName) on \(name)", counted.elements,
      records.filter { $0.number >= 0 && $0.text != "x" }
        .sorted { ($1.number, $0.id) < ($0.number, $1.id) })
  }
}
