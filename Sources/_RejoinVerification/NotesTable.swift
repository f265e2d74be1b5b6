// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore

/// The table that a program keeps until it is killed or the power is cut.
package enum NotesTable {
  /// Declares the table.
  package static func declared<Note: Entity>(
    _ title: KeyPath<Note, Field<Note, MVRegister<String>>>,
    _ saves: KeyPath<Note, Field<Note, PNCounter>>
  ) -> RecordTable {
    RecordTable(of: Note.self, "notes") {
      $0.column("title", title)
      $0.column("saves", saves)
    }
  }

  /// Returns how the table of the scope `main` differs from the records, or `nil`.
  ///
  /// The scope may not exist.
  package static func fault(
    on connection: any SQLConnection
  ) throws -> String? {
    let title = FieldKey("title", .register)
    let saves = FieldKey("saves", .counter)
    let schema = Schema(["Note": .init(fields: [title, saves])])
    let expected: [[SQLValue]]
    do {
      expected = try StoreReader.read("main", schema, on: connection) { view in
        view.recordIDs(of: "Note").compactMap { view.record($0) }.map { note in
          let text: SQLValue =
            if case .string(let text) = note.value(of: title) {
              .text(text)
            } else {
              .null
            }
          return [.text(note.id.key), text, .integer(note.count(of: saves))]
        }
      }
    } catch StoreError.notCreated { return nil }
    var rows: [[SQLValue]] = []
    do {
      try connection.run("SELECT id, title, saves FROM notes ORDER BY id", []) {
        row in rows.append((0..<3).map { row.value($0) })
      }
    } catch { return "the table cannot be read: \(error)" }
    return rows == expected
      ? nil : "the table has \(rows), and the records show \(expected)"
  }
}
