// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The check of a row's content.
struct RowCheck {
  private var bytes: [UInt8] = []

  init(_ words: UInt64...) {
    bytes.reserveCapacity(64)
    for word in words { add(word) }
  }

  mutating func add(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
  }

  /// Adds the bytes of a device ID.
  mutating func add(_ device: DeviceID) {
    add(16)
    add(device.high.byteSwapped)
    add(device.low.byteSwapped)
  }

  mutating func add(_ content: [UInt8]) {
    add(UInt64(content.count))
    bytes += content
  }

  var value: Int64 { bytes.withUnsafeBytes { Int64(WireChecksum.of($0)) } }
}

/// A row of `rejoin_scope`.
struct ScopeRow {
  var scope: Int64 = 0
  let name: [UInt8]
  var format = Tables.format
  var writer: Int64 = 0
  var head: [UInt8]
  var devices: Int64 = 0
  var records: Int64 = 0
  var patches: Int64 = 0

  private var check: Int64 {
    var check = RowCheck(
      UInt64(format), UInt64(bitPattern: devices), UInt64(bitPattern: records),
      UInt64(bitPattern: patches))
    check.add(name)
    check.add(head)
    return check.value
  }

  /// Finds a scope.
  ///
  /// The query reads every row. Otherwise, a scope with a damaged name would
  /// look like a scope that does not exist.
  static func find(
    _ name: [UInt8], on connection: any SQLConnection
  ) throws -> ScopeRow? {
    try all(on: connection).first { $0.name == name }
  }

  /// Returns all scopes in the order of their numbers.
  static func all(on connection: any SQLConnection) throws -> [ScopeRow] {
    try read("ORDER BY scope", [], on: connection)
  }

  /// Finds a scope of a hub, which can have many.
  ///
  /// In PostgreSQL, the query also makes the transaction prefer indexes.
  /// Otherwise, statistics about the distribution of the rows could lead to a
  /// full scan.
  static func findOnHub(
    _ name: [UInt8], on connection: any SQLConnection
  ) throws -> ScopeRow? {
    let setting =
      connection.dialect == .sqlite
      ? "" : "AND set_config('enable_seqscan', 'off', true) IS NOT NULL"
    let row = try read(
      "WHERE name = ? " + setting, [.bytes(name)], on: connection
    ).first
    if let row, !row.isOfHub { throw StoreError.scopeBelongsToDevice }
    return row
  }

  /// Locks the name of a hub's scope until the end of the transaction.
  ///
  /// Other transactions that change the scope wait. The scope need not exist.
  /// Unlike the lock of a row, this lock is not written, so a request without
  /// changes needs no sync.
  static func lock(_ name: [UInt8], on connection: any SQLConnection) throws {
    // In SQLite, a writing transaction locks the file already.
    if connection.dialect == .sqlite { return }
    // Names with the same number wait for each other, which does no harm.
    let number = name.withUnsafeBytes { Int64(WireChecksum.of($0)) }
    try connection.run(
      "SELECT pg_advisory_xact_lock(?)", .integer(0x7265_6a6f << 32 | number))
  }

  /// Whether the scope belongs to a hub, which never claims a scope.
  var isOfHub: Bool { writer == 0 }

  private static func read(
    _ condition: String, _ values: [SQLValue], on connection: any SQLConnection
  ) throws -> [ScopeRow] {
    var scopes: [ScopeRow] = []
    try connection.run(
      "SELECT scope, name, format, writer, head, devices, records, patches, "
        + "row_check "
        + "FROM rejoin_scope " + condition, values
    ) { row in
      let scope = ScopeRow(
        scope: row.integer(0), name: row.bytes(1),
        format: Int(row.integer(2)), writer: row.integer(3),
        head: row.bytes(4), devices: row.integer(5), records: row.integer(6),
        patches: row.integer(7))
      // A later version may check its rows in another way.
      if scope.format > Tables.format {
        throw StoreError.newerFormat(scope.format)
      }
      guard row.integer(8) == scope.check else {
        throw StoreError.damaged("in the row of scope \(scope.scope)")
      }
      scopes.append(scope)
    }
    return scopes
  }

  /// Adds the row and sets its number.
  ///
  /// - Returns: `false` if a scope already has the name, and otherwise `true`.
  @discardableResult
  mutating func insert(on connection: any SQLConnection) throws -> Bool {
    let (format, name) = (Int64(format), SQLValue.bytes(name))
    let number = try connection.integer(
      "INSERT INTO rejoin_scope "
        + "(name, format, writer, head, devices, records, patches, row_check) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING "
        + "RETURNING scope",
      name, .integer(format), .integer(writer), .bytes(head),
      .integer(devices), .integer(records), .integer(patches),
      .integer(check))
    scope = number ?? 0
    return number != nil
  }

  func update(on connection: any SQLConnection) throws {
    try connection.run(
      "UPDATE rejoin_scope SET head = ?, devices = ?, records = ?, "
        + "patches = ?, row_check = ? WHERE scope = ?",
      .bytes(head), .integer(devices), .integer(records), .integer(patches),
      .integer(check), .integer(scope))
  }
}
