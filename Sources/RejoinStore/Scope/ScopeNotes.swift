// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// Values of a scope that may be lost, such as the version that a peer showed last.
///
/// A lost or damaged note is an empty one. The table exists after the first note.
struct ScopeNotes {
  private let scope: Int64
  private let connection: any SQLConnection

  init(of scope: Int64, on connection: any SQLConnection) {
    (self.scope, self.connection) = (scope, connection)
  }

  /// Returns the value of a note, or `nil` if it is missing or damaged.
  func value(of name: String) throws -> [UInt8]? {
    try all().first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The notes that are not damaged, in the order of their names.
  func all() throws -> [(name: String, value: [UInt8])] {
    guard try exists() else { return [] }
    var notes: [(name: String, value: [UInt8])] = []
    try connection.run(
      "SELECT name, value, row_check FROM rejoin_note WHERE scope = $1 "
        + "ORDER BY name", [.integer(scope)]
    ) { row in
      let (key, bytes) = (row.bytes(0), row.bytes(1))
      if check(key, bytes) == row.integer(2) {
        notes.append((String(decoding: key, as: UTF8.self), bytes))
      }
    }
    return notes
  }

  /// Replaces the value of a note in the current transaction.
  func replace(_ name: String, by value: [UInt8]) throws {
    try Tables.createNotes(on: connection)
    let key = Array(name.utf8)
    try connection.run(
      "INSERT INTO rejoin_note (scope, name, value, row_check) "
        + "VALUES ($1, $2, $3, $4) ON CONFLICT (scope, name) DO UPDATE SET "
        + "value = excluded.value, row_check = excluded.row_check",
      [
        .integer(scope), .bytes(key), .bytes(value),
        .integer(check(key, value)),
      ]
    ) { _ in }
  }

  /// Deletes the notes of the scope in the current transaction.
  func deleteAll() throws {
    guard try exists() else { return }
    try connection.run(
      "DELETE FROM rejoin_note WHERE scope = $1", [.integer(scope)]
    ) { _ in }
  }

  private func exists() throws -> Bool {
    try Tables.count(of: ["rejoin_note"], on: connection) == 1
  }

  /// The check of a row, which no other scope and no other name has.
  private func check(_ name: [UInt8], _ value: [UInt8]) -> Int64 {
    var check = RowCheck(UInt64(bitPattern: scope))
    check.add(name)
    check.add(value)
    return check.value
  }
}

extension StoredScope {
  /// Returns the value of a note, or `nil` if it is missing or damaged.
  package func note(_ name: String) -> [UInt8]? {
    if failure != nil { return nil }
    return try? ScopeNotes(of: rows.scope, on: connection).value(of: name)
  }

  /// Replaces the value of a note, without waiting for the disk.
  package func setNote(_ name: String, to value: [UInt8]) throws(StoreError) {
    // A commit within this call does not sync the log. The next save syncs it.
    let level = try? connection.integer("PRAGMA synchronous")
    try? connection.run("PRAGMA synchronous = 1")
    defer { try? connection.run("PRAGMA synchronous = \(level ?? 2)") }
    try begin()
    do {
      try ScopeNotes(of: rows.scope, on: connection).replace(name, by: value)
      try connection.run("COMMIT")
    } catch {
      try? connection.run("ROLLBACK")
      throw written(error)
    }
  }
}
