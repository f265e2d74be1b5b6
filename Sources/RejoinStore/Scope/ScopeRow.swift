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

  mutating func add(_ content: [UInt8]) {
    add(UInt64(content.count))
    bytes += content
  }

  var value: Int64 { bytes.withUnsafeBytes { Int64(WireChecksum.of($0)) } }
}

/// A row of `rejoin_scope`.
struct ScopeRow: Equatable {
  var scope: Int64 = 0
  let name: [UInt8]
  private(set) var format = 1
  var writer: Int64 = 0
  var head: [UInt8]
  var devices: Int64 = 0
  var records: Int64 = 0
  var patches: Int64 = 0

  /// Creates the row of a new scope.
  ///
  /// - Parameter writer: The number before that of the first writer, or zero for
  ///   a scope of a hub.
  init(name: [UInt8], head: [UInt8], writer: Int64 = 0) {
    (self.name, self.head, self.writer) = (name, head, writer)
  }

  /// Returns the number before that of the first writer of a scope.
  ///
  /// A deleted scope can leave its row number to another one. A random number
  /// keeps an earlier writer from taking the new scope for its own. Its lowest
  /// bits count the openings.
  static func firstWriter() -> Int64 {
    Int64.random(in: 1..<(1 << 31)) << 32
  }

  /// Returns whether two writers opened the same scope, and not one that was
  /// created after the deletion of another.
  static func isSameScope(_ writer: Int64, _ other: Int64) -> Bool {
    writer >> 32 == other >> 32
  }

  /// The number of times that the scope was opened for writing.
  var openings: Int64 { writer & 0xffff_ffff }

  private var check: Int64 {
    var check = RowCheck(
      UInt64(bitPattern: Int64(format)), UInt64(bitPattern: devices),
      UInt64(bitPattern: records),
      UInt64(bitPattern: patches))
    check.add(name)
    check.add(head)
    return check.value
  }

  /// - Throws: ``StoreError/scopeNameTooLong(byteCount:)``
  static func checkLength(of name: [UInt8]) throws(StoreError) {
    if name.count > Limits.keyBytes {
      throw .scopeNameTooLong(byteCount: name.count)
    }
  }

  /// Finds a scope.
  ///
  /// - Parameter mustExist: Whether the scope is known to exist. If it is not
  ///   found, every row is then read, because a scope with a damaged name looks
  ///   like a scope that does not exist.
  static func find(
    _ name: [UInt8], mustExist: Bool, on connection: any SQLConnection
  ) throws -> ScopeRow? {
    try checkLength(of: name)
    // SQLite must read the name from the row, which has the check, and not from
    // the index.
    let found = try read(
      "WHERE scope = (SELECT scope FROM rejoin_scope WHERE name = $1)",
      [.bytes(name)], on: connection)
    if let row = found.first { return row }
    if mustExist, try all(on: connection).contains(where: { $0.name == name }) {
      throw StoreError.damaged("in the index of the scopes' names")
    }
    return nil
  }

  /// Returns the scope with a number.
  static func numbered(
    _ scope: Int64, on connection: any SQLConnection
  ) throws -> ScopeRow? {
    try read("WHERE scope = $1", [.integer(scope)], on: connection).first
  }

  /// Whether another row differs in the writer at most.
  func hasContent(of other: ScopeRow) -> Bool {
    name == other.name && check == other.check
  }

  /// Returns all scopes in the order of their numbers.
  static func all(on connection: any SQLConnection) throws -> [ScopeRow] {
    try read("ORDER BY scope", [], on: connection)
  }

  /// Returns the scopes of a hub after a name, in the order of the names.
  ///
  /// - Parameter name: The name before the first scope, or `nil` for all.
  static func following(
    _ name: [UInt8]?, limit: Int, on connection: any SQLConnection
  ) throws -> [ScopeRow] {
    // A zero byte makes the next greater name.
    let first = name.map { $0 + [0] } ?? []
    return try read(
      "WHERE name >= $1 AND writer = 0 ORDER BY name LIMIT $2",
      [.bytes(first), .integer(Int64(limit))], on: connection)
  }

  /// Whether the scope belongs to a hub, which never claims a scope.
  var isOfHub: Bool { writer == 0 }

  /// Whether the scope of a hub was erased.
  ///
  /// Until all its other rows are deleted, the row keeps their numbers. An
  /// earlier version of this library refuses the format of the row.
  var isErased: Bool { format == 2 }

  /// Whether the scope has rows of devices or records.
  var hasRows: Bool { devices > 0 || records > 0 }

  /// Marks the scope as erased.
  mutating func erase() { (format, head) = (2, []) }

  /// Records that the scope has no other rows.
  mutating func removeRows() { (devices, records, patches) = (0, 0, 0) }

  private static func read(
    _ condition: String, _ values: [SQLValue], on connection: any SQLConnection
  ) throws -> [ScopeRow] {
    var scopes: [ScopeRow] = []
    try connection.run(
      "SELECT \(ScopeRow.columns) FROM rejoin_scope " + condition, values
    ) { row in
      scopes.append(try ScopeRow(row))
    }
    return scopes
  }

  /// The columns that ``init(_:)`` reads.
  static let columns =
    "scope, name, format, writer, head, devices, records, patches, row_check"

  /// Creates the row that a query read.
  init(_ row: any SQLRow) throws {
    (scope, name, format) = (
      row.integer(0), row.bytes(1), Int(clamping: row.integer(2))
    )
    (writer, head, devices) = (row.integer(3), row.bytes(4), row.integer(5))
    (records, patches) = (row.integer(6), row.integer(7))
    // A later version may check its rows in another way.
    if format > Tables.format { throw StoreError.newerFormat(format) }
    guard row.integer(8) == check else {
      throw StoreError.damaged("in the row of scope \(scope)")
    }
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
        + "VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO NOTHING "
        + "RETURNING scope",
      name, .integer(format), .integer(writer), .bytes(head),
      .integer(devices), .integer(records), .integer(patches),
      .integer(check))
    scope = number ?? 0
    return number != nil
  }

  func update(on connection: any SQLConnection) throws {
    try connection.run(
      "UPDATE rejoin_scope SET format = $1, head = $2, devices = $3, "
        + "records = $4, patches = $5, row_check = $6 WHERE scope = $7",
      .integer(Int64(format)), .bytes(head), .integer(devices),
      .integer(records), .integer(patches), .integer(check), .integer(scope))
  }
}
