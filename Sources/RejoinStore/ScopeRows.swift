// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The rows of one scope, and the parts of a replica that they contain.
///
/// The saves guarantee that the records contain their effects. Records are
/// therefore written before saves, and read after them.
final class ScopeRows {
  private let connection: any SQLConnection
  private var row: ScopeRow
  private(set) var records: RecordRows
  /// The number of each device's row.
  private(set) var devices: [DeviceID: Int64] = [:]
  /// The clocks of a hub's records when they were read, or `nil` on a device.
  private var touched: [VectorClock]?
  private var head: StoredHead
  private var version = ReplicaVersion()
  private var digests = OwnDigestRows()
  /// The writes since ``begin()``, including writes that failed.
  private var attempt = Attempt()

  private struct Attempt {
    /// The positions of the written records.
    var records: [Int] = []
    /// The devices that received rows.
    var devices: [DeviceID] = []
    /// The state before the first write.
    var before: (row: ScopeRow, head: StoredHead, digests: OwnDigestRows)?
  }

  private init(
    _ row: ScopeRow, _ records: RecordRows, _ stored: ReplicaState,
    on connection: any SQLConnection
  ) {
    (self.connection, self.row, self.records) = (connection, row, records)
    head = StoredHead(stored)
  }

  /// Returns the rows of a new scope, which is added with the first write.
  static func new(
    _ name: [UInt8], for stored: ReplicaState,
    patching: Patching = Patching(), on connection: any SQLConnection
  ) -> ScopeRows {
    let row = ScopeRow(name: name, head: stored.encodedHead())
    return ScopeRows(
      row, RecordRows(row, patching: patching), stored, on: connection)
  }

  /// The number of the scope's row, or zero before the first write.
  var scope: Int64 { row.scope }

  /// Returns the number of the scope's current writer.
  func writer() throws -> Int64 {
    try connection.integer(
      "SELECT writer FROM rejoin_scope WHERE scope = ?", .integer(row.scope))
      ?? 0
  }

  /// Supersedes the previous writer of the scope.
  ///
  /// - Returns: The number of the new writer.
  func claim() throws -> Int64 {
    let writer = row.writer &+ 1
    try connection.run(
      "UPDATE rejoin_scope SET writer = ? WHERE scope = ?",
      .integer(writer), .integer(row.scope))
    return writer
  }
}

// Writing.
extension ScopeRows {
  /// Starts to record which devices touch the records of a hub.
  ///
  /// - Parameter stored: The replica that was read.
  func recordTouches(of stored: ReplicaState) {
    touched = records.numbers.indices.map { stored.lastSaves(ofRecordAt: $0) }
  }

  /// Returns whether a replica differs from its stored rows.
  func differ(from replica: Replica) -> Bool {
    replica.hasChangedRecords || head != StoredHead(replica.stored)
      || version != replica.stored.version
  }

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
      try writeTouches(of: position, in: replica)
    }
    try writeDigests(of: replica.stored)
    try writeDevices(of: replica.stored)
    try writeHead(of: replica.stored)
  }

  /// Writes the new touches of a record, on a hub.
  private func writeTouches(of position: Int, in replica: Replica) throws {
    guard let touched, let record = records.number(at: position) else { return }
    let known =
      position < touched.count ? touched[position] : VectorClock()
    let clock = replica.stored.lastSaves(ofRecordAt: position)
    for entry in clock.entries where entry.count > known[entry.device] {
      try connection.run(
        "INSERT INTO rejoin_touch (scope, record, device, n) "
          + "VALUES (?, ?, ?, ?) ON CONFLICT (record, device) "
          + "DO UPDATE SET n = excluded.n",
        .integer(row.scope), .integer(record),
        .integer(number(of: entry.device)),
        .integer(Int64(clamping: entry.count)))
    }
  }

  /// Returns the number of a device's row, and adds the row if necessary.
  private func number(of device: DeviceID) throws -> Int64 {
    try devices[device] ?? insert(.none, of: device)
  }

  private func writeDigests(of stored: ReplicaState) throws {
    let own = stored.ownDigests
    let now = OwnDigestRows(
      floor: own.floor, last: own.floor + UInt64(own.digests.count),
      device: stored.device)
    guard now != digests else { return }
    // If the device changed, the stored digests belong to other saves.
    if now.device != digests.device || now.last < digests.last {
      try connection.run(
        "DELETE FROM rejoin_digest WHERE scope = ?", .integer(row.scope))
      digests = OwnDigestRows(floor: own.floor, last: own.floor)
    }
    if now.floor > digests.floor {
      // The database must not compare the numbers, which are bit patterns.
      for n in digests.floor..<min(now.floor, digests.last) {
        try connection.run(
          "DELETE FROM rejoin_digest WHERE scope = ? AND n = ?",
          .integer(row.scope), .bits(n + 1))
      }
    }
    let start = Int(max(digests.last, now.floor) - now.floor)
    for (i, digest) in own.digests.enumerated().dropFirst(start) {
      let n = now.floor + UInt64(i) + 1
      try connection.run(
        "INSERT INTO rejoin_digest (scope, n, digest, row_check) "
          + "VALUES (?, ?, ?, ?)",
        .integer(row.scope), .bits(n), .bits(digest),
        .integer(RowCheck(n, digest).value))
    }
    digests = now
  }

  private func writeDevices(of stored: ReplicaState) throws {
    try stored.version.forEachDifference(from: version) { device, save, _ in
      guard let number = devices[device] else {
        try insert(save, of: device)
        return
      }
      try connection.run(
        "UPDATE rejoin_device SET n = ?, time = ?, digest = ?, forked = ?, "
          + "row_check = ? WHERE device = ?",
        .bits(save.sequence), .bits(save.time.rawValue), .bits(save.digest),
        .integer(save.isForked ? 1 : 0), .integer(save.check(of: device)),
        .integer(number))
    }
    version = stored.version
  }

  @discardableResult
  private func insert(
    _ save: DeviceSave, of device: DeviceID
  ) throws -> Int64 {
    let number =
      try connection.integer(
        "INSERT INTO rejoin_device "
          + "(scope, id, n, time, digest, forked, row_check) "
          + "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING device",
        .integer(row.scope), .bytes(Array(device.bytes)), .bits(save.sequence),
        .bits(save.time.rawValue), .bits(save.digest),
        .integer(save.isForked ? 1 : 0), .integer(save.check(of: device))) ?? 0
    devices[device] = number
    attempt.devices.append(device)
    return number
  }

  private func writeHead(of stored: ReplicaState) throws {
    let now = StoredHead(stored)
    let devices = Int64(devices.count)
    let (count, patches) = (records.count, records.patchCount)
    guard
      now != head || devices != row.devices || count != row.records
        || patches != row.patches
    else { return }
    if now != head { row.head = stored.encodedHead() }
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
    var reader = RecordReader(
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
    version = replica.stored.version
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
  ) throws -> (rows: ScopeRows, stored: ReplicaState) {
    try read(row, patching: patching, on: connection) { reader in
      // Read in the order of the file, which is faster than by an index.
      let order = connection.dialect == .sqlite ? "NOT INDEXED" : ""
      try reader.read(
        "rejoin_record r \(order) WHERE scope = ?", .integer(row.scope))
      try reader.readPatches()
      guard reader.numbers.count == row.records else {
        throw StoreError.damaged(
          "with \(reader.numbers.count) rows of records instead of "
            + "\(row.records)")
      }
    }
  }

  /// Reads a scope and the records that a closure chooses.
  static func read(
    _ row: ScopeRow, patching: Patching = Patching(),
    on connection: any SQLConnection,
    choosing choose: (inout RecordReader) throws -> Void
  ) throws -> (rows: ScopeRows, stored: ReplicaState) {
    do {
      var assembly = try StoredAssembly(head: row.head)
      let devices = try readDevices(into: &assembly, row, connection)
      try assembly.endSaves()
      let digests =
        row.isOfHub
        ? OwnDigestRows()
        : try OwnDigestRows.read(into: &assembly, row, connection)
      guard devices.count == row.devices else {
        throw StoreError.damaged(
          "with \(devices.count) rows of devices instead of \(row.devices)")
      }
      var reader = RecordReader(
        row, devices, assembly, patching: patching, on: connection)
      try choose(&reader)
      let records = reader.rows
      var stored = try reader.finished()
      for position in records.large { stored.recordWritten(position) }
      let rows = ScopeRows(row, records, stored, on: connection)
      (rows.devices, rows.version) = (devices, stored.version)
      rows.digests = digests
      rows.digests.device = stored.device
      return (rows, stored)
    } catch let error as WireError {
      throw StoreError.damaged("in the row of the replica: \(error.detail)")
    }
  }

  private static func readDevices(
    into assembly: inout StoredAssembly, _ row: ScopeRow,
    _ connection: any SQLConnection
  ) throws -> [DeviceID: Int64] {
    var devices: [DeviceID: Int64] = [:]
    devices.reserveCapacity(Int(clamping: min(row.devices, 1 << 16)))
    // Read the devices in the order of a version, so each is appended.
    try connection.run(
      "SELECT device, id, n, time, digest, forked, row_check "
        + "FROM rejoin_device WHERE scope = ? ORDER BY id",
      [.integer(row.scope)]
    ) { row in
      let save = DeviceSave(
        sequence: row.bits(2), time: Timestamp(rawValue: row.bits(3)),
        digest: row.bits(4), isForked: row.integer(5) != 0)
      guard let device = row.withBytes(1, { DeviceID(raw: $0) }),
        save.check(of: device) == row.integer(6)
      else {
        throw StoreError.damaged("in row \(row.integer(0)) of the devices")
      }
      assembly.add(save, of: device)
      devices[device] = row.integer(0)
    }
    return devices
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
      "SELECT n, digest, row_check FROM rejoin_digest WHERE scope = ?",
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

extension DeviceSave {
  /// The check of the row that contains this save.
  fileprivate func check(of device: DeviceID) -> Int64 {
    var check = RowCheck(sequence, time.rawValue, digest, isForked ? 1 : 0)
    check.add(device)
    return check.value
  }
}

extension DeviceID {
  /// - Returns: The device ID, or `nil` if `bytes` does not have 16 bytes.
  fileprivate init?(raw bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    self.init(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(
        bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
