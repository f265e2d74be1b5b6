// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import Rejoin
import RejoinSQL

/// The rows of an undo history, one for each save.
///
/// The numbers of the rows are in the order of the saves. Only rows that
/// changed are written.
struct UndoRows {
  private struct Row {
    let number: Int64
    /// The save, or `nil` if it could not be decoded because another version of
    /// the library wrote it.
    let save: UndoStep?
    let isUndone: Bool
  }

  private let scope: Int64
  private var rows: [Row] = []

  /// Creates the rows of a new scope.
  init(scope: Int64) { self.scope = scope }

  /// Reads the rows of a scope.
  init(scope: Int64, on connection: any SQLConnection) throws {
    self.scope = scope
    var rows: [Row] = []
    try connection.run(
      "SELECT step, undone, body, row_check FROM rejoin_undo "
        + "WHERE scope = $1 ORDER BY step", [.integer(scope)]
    ) { row in
      let (number, isUndone) = (row.integer(0), row.integer(1) != 0)
      let body = row.bytes(2)
      guard UndoRows.check(of: body, isUndone, scope) == row.integer(3) else {
        throw StoreError.damaged("in step \(number) of the undo history")
      }
      let save = try? JSONDecoder().decode(UndoStep.self, from: Data(body))
      rows.append(Row(number: number, save: save, isUndone: isUndone))
    }
    self.rows = rows
  }

  /// The history in the rows.
  ///
  /// If another version of the library wrote a row that cannot be decoded, the
  /// history is empty.
  var history: UndoHistory {
    if rows.contains(where: { $0.save == nil }) { return UndoHistory() }
    return UndoHistory(
      done: rows.filter { !$0.isUndone }.compactMap(\.save),
      undone: rows.filter(\.isUndone).compactMap(\.save))
  }

  /// Updates the rows to the saves of a history.
  mutating func write(
    _ history: UndoHistory, on connection: any SQLConnection
  ) throws {
    let known = Dictionary(
      rows.map { ($0.save?.dot, $0) }, uniquingKeysWith: { $1 })
    let (done, undone) = history.saves
    var new: [Row] = []
    for (saves, isUndone) in [(done, false), (undone, true)] {
      var inserts = false
      for save in saves {
        // After a new row, insert all later saves again to keep the order.
        guard !inserts, let row = known[save.dot], row.isUndone == isUndone
        else {
          inserts = true
          let number = try insert(save, isUndone, on: connection)
          new.append(Row(number: number, save: save, isUndone: isUndone))
          continue
        }
        if row.save != save {
          try update(row.number, save, isUndone, connection)
        }
        new.append(Row(number: row.number, save: save, isUndone: isUndone))
      }
    }
    let kept = Set(new.map(\.number))
    for row in rows where !kept.contains(row.number) {
      try connection.run(
        "DELETE FROM rejoin_undo WHERE step = $1", .integer(row.number))
    }
    rows = new
  }

  private func insert(
    _ save: UndoStep, _ isUndone: Bool, on connection: any SQLConnection
  ) throws -> Int64 {
    let body = try UndoRows.body(of: save)
    return try connection.integer(
      "INSERT INTO rejoin_undo (scope, undone, body, row_check) "
        + "VALUES ($1, $2, $3, $4) RETURNING step",
      .integer(scope), .integer(isUndone ? 1 : 0), .bytes(body),
      .integer(UndoRows.check(of: body, isUndone, scope))) ?? 0
  }

  private func update(
    _ number: Int64, _ save: UndoStep, _ isUndone: Bool,
    _ connection: any SQLConnection
  ) throws {
    let body = try UndoRows.body(of: save)
    try connection.run(
      "UPDATE rejoin_undo SET body = $1, row_check = $2 WHERE step = $3",
      .bytes(body), .integer(UndoRows.check(of: body, isUndone, scope)),
      .integer(number))
  }

  private static func body(of save: UndoStep) throws -> [UInt8] {
    Array(try JSONEncoder().encode(save))
  }

  private static func check(
    of body: [UInt8], _ isUndone: Bool, _ scope: Int64
  ) -> Int64 {
    var check = RowCheck(UInt64(bitPattern: scope), isUndone ? 1 : 0)
    check.add(body)
    return check.value
  }
}
