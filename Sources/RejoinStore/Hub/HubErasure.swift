// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

extension Hub {
  /// Erases a scope permanently.
  ///
  ///     try await hub.eraseScope("list-17")
  ///     try await session.version(of: "list-17")  // throws scopeErased
  ///
  /// Use this method when a list or an account is deleted. First, the hub marks
  /// the scope. Each later request for it throws ``StoreError/scopeErased``, in
  /// all sessions and processes. Then, the hub deletes the devices and records
  /// in short transactions, so requests for other scopes go on.
  ///
  /// If the process exits or the task is canceled during the call, the scope
  /// stays erased, and the rest of its rows stays in the database. Call the
  /// method again to delete them. Calls for an erased scope have no other effect.
  ///
  /// The name of the scope stays in the database, because a device could
  /// otherwise create the scope again. You can also erase a name that no scope
  /// has. The content remains in the devices, and in backups of the database.
  ///
  /// SQLite overwrites the content in its file. If another connection reads the
  /// file at the end of the call, the log keeps the content until a later
  /// connection empties it. PostgreSQL keeps deleted rows until a `VACUUM`, and
  /// its log longer.
  ///
  /// - Throws: ``StoreError``
  /// - Complexity: O(*n*), where *n* is the size of the scope.
  public func eraseScope(_ name: String) async throws {
    var batch: ErasureBatch? = ErasureBatch()
    while let next = batch {
      _ = try await writes.make(.erase(next), in: name)
      batch = next.following
    }
    try await pool.run { try $0.emptyLog() }
  }
}

extension HubConnection {
  /// Writes the log of SQLite into the file, and empties it, unless another
  /// connection reads it.
  func emptyLog() throws(StoreError) {
    if connection.dialect != .sqlite { return }
    do { try connection.run("PRAGMA wal_checkpoint(TRUNCATE)") } catch {
      throw StoreError(writing: error)
    }
  }
}

/// A part of the erasure of a scope, for one transaction.
///
/// The first batch marks the scope. Changes of the scope are then refused, so
/// no rows are added between batches. The next ones delete the devices with
/// their touches, and then the records with their patches.
package final class ErasureBatch: Sendable {
  /// The maximum number of rows in a batch, and of bytes after which it ends.
  ///
  /// In SQLite, requests for all scopes wait for a batch.
  static let (rowLimit, byteLimit) = (1_000, 1 << 20)

  /// The location after the rows that earlier batches deleted.
  ///
  /// Each batch continues there. PostgreSQL keeps deleted rows in its indexes
  /// until a `VACUUM`, so a search from the start would pass over them.
  private struct Position {
    /// The last deleted device.
    var device: [UInt8] = []
    /// The last deleted touch.
    ///
    /// If the answer to a commit is lost, the batch is repeated, and starts at
    /// another device.
    var touch = (device: Int64(0), n: Int64(0), record: Int64(0))
    /// The first ID that the next record can have.
    var record = (entity: [UInt8](), key: [UInt8]())
    /// Whether devices can remain.
    var hasDevices = true
  }

  private let start: Position
  /// The end of the batch, or `nil` if the erasure is finished.
  ///
  /// A transaction that is retried replaces it.
  private let end = Locked<Position?>(nil)

  /// Creates the first batch.
  package convenience init() { self.init(after: Position()) }

  private init(after start: Position) { self.start = start }

  /// The next batch, or `nil` if the erasure is finished.
  package var following: ErasureBatch? {
    end.withLock { $0.map { ErasureBatch(after: $0) } }
  }

  /// Erases the part in the transaction of a connection.
  func erase(_ name: [UInt8], on connection: any SQLConnection) throws {
    let found = try ScopeRow.find(name, mustExist: false, on: connection)
    var row = found ?? ScopeRow(name: name, head: [])
    guard row.isOfHub else { throw StoreError.scopeBelongsToDevice }
    var position: Position? = start
    if !row.isErased {
      row.erase()
      try found == nil
        ? _ = row.insert(on: connection) : row.update(on: connection)
      // The list of fields ahead of the version is short.
      try connection.run(
        "DELETE FROM rejoin_touch WHERE device = $1", .integer(-row.scope))
    } else if row.hasRows {
      position = try deleteRows(of: row, on: connection)
      if position == nil {
        row.removeRows()
        try row.update(on: connection)
      }
    }
    let next = row.hasRows ? position : nil
    end.withLock { $0 = next }
  }

  /// - Returns: The position after the deleted rows, or `nil` if no rows
  ///   remain.
  private func deleteRows(
    of row: ScopeRow, on connection: any SQLConnection
  ) throws -> Position? {
    var position = start
    if position.hasDevices {
      try deleteDevices(of: row, from: &position, on: connection)
      return position
    }
    return try deleteRecords(of: row, from: &position, on: connection)
      ? position : nil
  }

  /// Deletes devices and their touches.
  private func deleteDevices(
    of row: ScopeRow, from position: inout Position,
    on connection: any SQLConnection
  ) throws {
    var devices: [(number: Int64, id: [UInt8])] = []
    // A device can have no touches.
    let limit = ErasureBatch.rowLimit / 10
    try connection.run(
      "SELECT device, id FROM rejoin_device WHERE scope = $1 AND id > $2 "
        + "ORDER BY id LIMIT $3",
      [
        .integer(row.scope), .bytes(position.device), .integer(Int64(limit)),
      ]
    ) { row in
      devices.append((row.integer(0), row.bytes(1)))
    }
    position.hasDevices = devices.count == limit
    var rest = ErasureBatch.rowLimit
    for device in devices {
      let count = try deleteTouches(
        of: device.number, limit: rest, from: &position, on: connection)
      if count == rest {
        position.hasDevices = true
        return
      }
      rest -= count
      try connection.run(
        "DELETE FROM rejoin_device WHERE device = $1", .integer(device.number))
      position.device = device.id
    }
  }

  /// Deletes touches of a device up to a limit.
  ///
  /// - Returns: The number of deleted touches.
  private func deleteTouches(
    of device: Int64, limit: Int, from position: inout Position,
    on connection: any SQLConnection
  ) throws -> Int {
    var start = position.touch
    if start.device != device { start = (device, 0, 0) }
    var records: [Int64] = []
    try connection.run(
      "SELECT n, record FROM rejoin_touch WHERE device = $1 "
        + "AND (n, record) > ($2, $3) ORDER BY n, record LIMIT $4",
      [
        .integer(device), .integer(start.n), .integer(start.record),
        .integer(Int64(limit)),
      ]
    ) { row in
      position.touch = (device, row.integer(0), row.integer(1))
      records.append(position.touch.record)
    }
    try delete(
      records, from: "rejoin_touch", where: "AND device = $2",
      .integer(device), on: connection)
    return records.count
  }

  /// Deletes records and their patches.
  ///
  /// - Returns: Whether records can remain.
  private func deleteRecords(
    of row: ScopeRow, from position: inout Position,
    on connection: any SQLConnection
  ) throws -> Bool {
    let (scope, start) = (SQLValue.integer(row.scope), position.record)
    var (numbers, bytes, last) = ([] as [Int64], 0 as Int64, start)
    var isFull = false
    try connection.run(
      "SELECT record, entity, key, length(body) FROM rejoin_record "
        + "WHERE scope = $1 AND (entity, key) >= ($2, $3) "
        + "ORDER BY entity, key LIMIT $4",
      [
        scope, .bytes(start.entity), .bytes(start.key),
        .integer(Int64(ErasureBatch.rowLimit)),
      ]
    ) { row in
      if bytes > ErasureBatch.byteLimit { return isFull = true }
      numbers.append(row.integer(0))
      bytes += row.integer(3)
      last = (row.bytes(1), row.bytes(2))
    }
    if row.patches > 0 {
      try delete(numbers, from: "rejoin_patch", on: connection)
    }
    try delete(numbers, from: "rejoin_record", on: connection)
    // A zero byte makes the next greater key.
    position.record = (last.entity, last.key + [0])
    return isFull || numbers.count == ErasureBatch.rowLimit
  }

  /// Deletes the rows of records from a table.
  ///
  /// The statement lists the records. PostgreSQL would search a range from the
  /// start of the scope.
  private func delete(
    _ records: [Int64], from table: String, where condition: String = "",
    _ values: SQLValue..., on connection: any SQLConnection
  ) throws {
    if records.isEmpty { return }
    let list = records.map { "\($0)" }.joined(separator: ",")
    let (rows, text) =
      switch connection.dialect {
      case .sqlite: ("IN (SELECT value FROM json_each($1))", "[\(list)]")
      case .postgresql: ("= ANY ($1::text::bigint[])", "{\(list)}")
      }
    try connection.run(
      "DELETE FROM \(table) WHERE record \(rows) \(condition)",
      [.text(text)] + values)
  }
}
