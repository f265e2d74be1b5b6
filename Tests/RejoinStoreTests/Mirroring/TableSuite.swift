// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

let notesTable = RecordTable(of: Note.self, "notes") {
  $0.column("title", \.title)
  $0.column("views", \.views)
}

/// A suite of stores with a table of notes.
class TableSuite: StoreSuite {
  var table: RecordTable { notesTable }

  func store(
    _ tables: [RecordTable] = [notesTable], writing writer: TableWriter? = nil,
    scope: String = "main", token: (any TokenStorage)? = nil
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, scope: scope, schema: [Note.self], tables: tables,
      writing: writer, wallClock: ManualClock().wallClock,
      token: token ?? tokenStorage)
  }

  /// Runs statements on a connection of the app.
  func run(_ statements: String...) throws {
    let connection = try SQLiteConnection(opening: path)
    for statement in statements { try connection.run(statement) }
  }

  func count(_ sql: String) throws -> Int64? {
    try SQLiteConnection(opening: path).integer("SELECT count(*) FROM \(sql)")
  }

  /// Expects that the table has the titles of the records.
  func expectTitles(
    _ store: ReplicaStore, in table: String = "notes",
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    var rows: [String: String?] = [:]
    try SQLiteConnection(opening: path).run(
      "SELECT id, title FROM \(table)", []
    ) { rows[$0.text(0) ?? ""] = .some($0.text(1)) }
    let titles = await store.read { view in
      view.records(of: Note.self).map { ($0.id, $0.title) }
    }
    #expect(
      rows == Dictionary(uniqueKeysWithValues: titles), sourceLocation: location
    )
  }
}
