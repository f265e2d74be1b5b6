// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The rows of one scope, and the parts of a replica that they contain.
///
/// The saves guarantee that the records contain their effects. Records are
/// therefore written before saves, and read after them.
final class ScopeRows {
  /// The connection, which the store can replace between its changes.
  var connection: any SQLConnection
  private var row: ScopeRow
  private(set) var records: RecordRows
  /// The number of each device's row.
  private(set) var devices: [DeviceID: Int64] = [:]
  private var head: StoredHead
  private var version = ReplicaVersion()
  private var digests = OwnDigestRows()
  /// The digests of the records as they were read.
  private var recordDigests: RecordDigests?
  /// The writes since ``begin()``, including writes that failed.
  private var attempt = Attempt()

  private struct Attempt {
    /// The positions of the written records.
    var records: [Int] = []
    /// The devices that received rows.
    var devices: [DeviceID] = []
    /// The state before the first write, or `nil` without one.
    var before: (row: ScopeRow, head: StoredHead, digests: OwnDigestRows)?
  }

  private init(
    _ row: ScopeRow, _ records: RecordRows, _ state: ReplicaState,
    on connection: any SQLConnection
  ) {
    (self.connection, self.row, self.records) = (connection, row, records)
    head = StoredHead(state)
  }

  /// Returns the rows of a new scope, which is added with the first write.
  static func new(
    _ name: [UInt8], for state: ReplicaState,
    patching: Patching = Patching(), on connection: any SQLConnection
  ) -> ScopeRows {
    let row = ScopeRow(
      name: name, head: state.encodedHead(), writer: ScopeRow.firstWriter())
    return ScopeRows(
      row, RecordRows(row, patching: patching), state, on: connection)
  }

  /// The number of the scope's row, or zero before the first write.
  var scope: Int64 { row.scope }

  /// Returns the number of the scope's current writer.
  func writer() throws -> Int64 {
    try connection.integer(
      "SELECT writer FROM rejoin_scope WHERE scope = $1", .integer(row.scope))
      ?? 0
  }

  /// The content of the database, compared with these rows.
  enum Content {
    /// The content that these rows wrote or read last.
    case same
    /// The content of a later writer.
    case ofOtherWriter
    /// Any other content, such as that of a backup.
    case other
  }

  /// Compares the scope and its devices with what these rows wrote last.
  ///
  /// Each save changes the row of its device.
  func content(by writer: Int64) throws -> Content {
    if try self.writer() != writer { return .ofOtherWriter }
    guard let found = try ScopeRow.numbered(row.scope, on: connection),
      found.hasContent(of: row)
    else { return .other }
    var stored: [DeviceID: DeviceRow] = [:]
    try connection.run(
      "SELECT \(DeviceRow.columns) FROM rejoin_device WHERE scope = $1",
      [.integer(row.scope)]
    ) { row in
      let device = try DeviceRow(row)
      stored[device.device] = device
    }
    var isSame = stored.count == devices.count
    version.forEachDifference(from: ReplicaVersion()) { device, save, _ in
      isSame =
        isSame && stored[device]?.number == devices[device]
        && stored[device]?.save.check(of: device) == save.check(of: device)
    }
    return isSame ? .same : .other
  }

  /// The number of the scope's writer when the rows were read.
  var formerWriter: Int64 { row.writer }

  /// Builds the indexes of the records again if they lack an entry of the rows
  /// as they were read, because a reader would not find the record.
  ///
  /// - Precondition: The rows are still as they were read.
  func repairIndexes() throws {
    try recordDigests?.repairIndexes(of: row.scope, on: connection)
  }

  /// Supersedes the previous writer of the scope.
  ///
  /// - Parameter former: The number of the previous writer, or `nil` if it is
  ///   that of the rows as they were read.
  /// - Returns: The number of the new writer.
  func claim(after former: Int64? = nil) throws -> Int64 {
    let writer = (former ?? row.writer) &+ 1
    try connection.run(
      "UPDATE rejoin_scope SET writer = $1 WHERE scope = $2",
      .integer(writer), .integer(row.scope))
    return writer
  }

  /// Deletes all rows of the scope, and its derived tables.
  ///
  /// - Parameter damaged: The names of the tables that an earlier attempt could not
  ///   read, which stay.
  func delete(except damaged: Set<String>) throws {
    for table in Tables.names {
      try connection.run(
        "DELETE FROM \(table) WHERE scope = $1", .integer(row.scope))
    }
    try MirroredTables.drop(of: row.scope, except: damaged, on: connection)
  }
}

// Writing.
extension ScopeRows {
  /// Writes the changes of a replica since the previous write.
  func write(_ replica: Replica) throws {
    if row.scope == 0 {
      guard try row.insert(on: connection) else {
        throw StoreError.damaged("in the names of the scopes")
      }
    }
    attempt.before = (row, head, digests)
    attempt.records = replica.takeChangedRecords()
    for position in attempt.records {
      try records.write(
        position, of: replica, in: row.scope, on: connection)
    }
    try writeDigests(of: replica.current)
    try writeDevices(of: replica.current)
    try writeHead(of: replica.current)
  }

  private func writeDigests(of state: ReplicaState) throws {
    let own = state.ownDigests
    let now = OwnDigestRows(
      floor: own.floor, last: own.floor + UInt64(own.digests.count),
      device: state.device)
    guard now != digests else { return }
    // If the device changed, the stored digests belong to other saves.
    if now.device != digests.device || now.last < digests.last {
      try connection.run(
        "DELETE FROM rejoin_digest WHERE scope = $1", .integer(row.scope))
      digests = OwnDigestRows(floor: own.floor, last: own.floor)
    }
    if now.floor > digests.floor {
      // The database must not compare the numbers, which are bit patterns.
      for n in digests.floor..<min(now.floor, digests.last) {
        try connection.run(
          "DELETE FROM rejoin_digest WHERE scope = $1 AND n = $2",
          .integer(row.scope), .bits(n + 1))
      }
    }
    let start = Int(max(digests.last, now.floor) - now.floor)
    for (i, digest) in own.digests.enumerated().dropFirst(start) {
      let n = now.floor + UInt64(i) + 1
      try connection.run(
        "INSERT INTO rejoin_digest (scope, n, digest, row_check) "
          + "VALUES ($1, $2, $3, $4)",
        .integer(row.scope), .bits(n), .bits(digest),
        .integer(RowCheck(n, digest).value))
    }
    digests = now
  }

  private func writeDevices(of state: ReplicaState) throws {
    try state.version.forEachDifference(from: version) { device, save, _ in
      guard let number = devices[device] else {
        return try insert(save, of: device)
      }
      try connection.run(
        "UPDATE rejoin_device SET n = $1, time = $2, digest = $3, forked = $4, "
          + "row_check = $5 WHERE device = $6",
        .bits(save.sequence), .bits(save.time.rawValue), .bits(save.digest),
        .integer(save.isForked ? 1 : 0), .integer(save.check(of: device)),
        .integer(number))
    }
    version = state.version
  }

  private func insert(_ save: DeviceSave, of device: DeviceID) throws {
    let number =
      try connection.integer(
        "INSERT INTO rejoin_device "
          + "(scope, id, n, time, digest, forked, row_check) "
          + "VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING device",
        .integer(row.scope), .bytes(Array(device.bytes)), .bits(save.sequence),
        .bits(save.time.rawValue), .bits(save.digest),
        .integer(save.isForked ? 1 : 0), .integer(save.check(of: device))) ?? 0
    devices[device] = number
    attempt.devices.append(device)
  }

  private func writeHead(of state: ReplicaState) throws {
    let now = StoredHead(state)
    let devices = Int64(devices.count)
    let (count, patches) = (records.count, records.patchCount)
    guard
      now != head || devices != row.devices || count != row.records
        || patches != row.patches
    else { return }
    if now != head { row.head = state.encodedHead() }
    (row.devices, row.records, row.patches) = (devices, count, patches)
    head = now
    try row.update(on: connection)
  }
}

// Reverting uncommitted changes.
extension ScopeRows {
  /// Starts to record the writes, for ``revert(_:to:)``.
  func begin() { attempt = Attempt() }

  /// Restores a replica and these rows to their former state.
  ///
  /// - Returns: Whether both are restored. Otherwise, all rows must be read
  ///   again.
  /// - Complexity: O(*k* + *d*), where *k* is the number of changed records and
  ///   *d* is the number of own digests.
  func revert(_ replica: Replica, to former: FormerReplica) throws -> Bool {
    let changed = Set(attempt.records).union(replica.takeChangedRecords())
      .sorted()
    let row = attempt.before?.row ?? row
    var reader = RowReader(
      row, devices, StoredAssembly(of: replica, former),
      patching: records.patching, on: connection)
    for position in changed where position < former.recordCount {
      guard let number = records.number(at: position) else { return false }
      try reader.readRow(number)
    }
    let digests = try reader.readDigests()
    let read = reader.rows
    var parts = reader.parts()
    for place in read.large { parts.recordWritten(place) }
    guard
      read.numbers.count == changed.count(where: { $0 < former.recordCount }),
      replica.revert(to: former, changed, as: parts)
    else { return false }
    records.revert(to: row, former.recordCount, changed, read)
    for device in attempt.devices { devices[device] = nil }
    if let before = attempt.before { (self.row, head, _) = before }
    version = replica.current.version
    self.digests = digests
    self.digests.device = replica.device
    return true
  }
}

// Reading.
extension ScopeRows {
  /// Reads the rows of a scope and the replica that they contain.
  static func read(
    _ row: ScopeRow, patching: Patching = Patching(),
    on connection: any SQLConnection
  ) throws -> (rows: ScopeRows, state: ReplicaState) {
    if row.isErased { throw StoreError.scopeErased }
    do {
      var assembly = try StoredAssembly(head: row.head)
      let devices = try readDevices(into: &assembly, row, connection)
      try assembly.endSaves()
      // A hub makes no saves.
      let digests =
        row.isOfHub
        ? OwnDigestRows()
        : try OwnDigestRows.read(into: &assembly, row, connection)
      var reader = RowReader(
        row, devices, assembly, patching: patching, on: connection)
      let order = try readsAllRecords(for: row, connection) ? "NOT INDEXED" : ""
      try reader.read(
        "rejoin_record r \(order) WHERE scope = $1", .integer(row.scope))
      try reader.readPatches()
      guard reader.numbers.count == row.records else {
        throw StoreError.damaged(
          "with \(reader.numbers.count) rows of records instead of "
            + "\(row.records)")
      }
      let recordDigests = reader.digests
      let (records, state) = try reader.finished()
      let rows = ScopeRows(row, records, state, on: connection)
      (rows.devices, rows.version) = (devices, state.version)
      rows.digests = digests
      rows.digests.device = state.device
      rows.recordDigests = recordDigests
      return (rows, state)
    } catch let error as WireError {
      throw StoreError.damaged("in the row of the replica: \(error.detail)")
    }
  }

  /// Returns whether to read the records of all scopes, in the order of the
  /// file.
  ///
  /// This is faster than reading a fourth of them by an index.
  private static func readsAllRecords(
    for row: ScopeRow, _ connection: any SQLConnection
  ) throws -> Bool {
    guard connection.dialect == .sqlite else { return false }
    let last = try connection.integer("SELECT max(record) FROM rejoin_record")
    return row.records >= (last ?? 0) / 4
  }

  static func readDevices(
    into assembly: inout StoredAssembly, _ row: ScopeRow,
    _ connection: any SQLConnection
  ) throws -> [DeviceID: Int64] {
    var devices: [DeviceRow] = []
    try connection.run(
      "SELECT \(DeviceRow.columns) FROM rejoin_device WHERE scope = $1 "
        + "ORDER BY id", [.integer(row.scope)]
    ) { row in
      devices.append(try DeviceRow(row))
    }
    return try DeviceRow.add(devices, of: row, to: &assembly)
  }
}

/// The stored digests of the replica's own saves, `floor + 1` to `last`.
struct OwnDigestRows: Equatable {
  var floor: UInt64 = 0
  var last: UInt64 = 0
  var device: DeviceID?

  static func read(
    into assembly: inout StoredAssembly, _ row: ScopeRow,
    _ connection: any SQLConnection
  ) throws -> OwnDigestRows {
    var found: [(n: UInt64, digest: UInt64)] = []
    try connection.run(
      "SELECT n, digest, row_check FROM rejoin_digest WHERE scope = $1",
      [.integer(row.scope)]
    ) { row in
      let (n, digest) = (row.bits(0), row.bits(1))
      guard n > 0, RowCheck(n, digest).value == row.integer(2) else {
        throw StoreError.damaged("in the digest of save \(n)")
      }
      found.append((n, digest))
    }
    found.sort { $0.n < $1.n }
    guard let first = found.first, let last = found.last else {
      return OwnDigestRows()
    }
    // If a digest between them is missing, `finished()` throws, because the
    // digests do not end with the last own save.
    assembly.add(ownDigests: found.map(\.digest), above: first.n - 1)
    return OwnDigestRows(floor: first.n - 1, last: last.n)
  }
}
