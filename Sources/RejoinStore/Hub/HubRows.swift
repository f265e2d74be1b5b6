// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The rows of a hub's scope that a request reads and writes.
struct HubRows {
  private var row: ScopeRow
  /// The row as it is stored.
  private var storedRow: ScopeRow
  private var records: RecordRows
  /// The number of each device's row, or zero for a row that this request
  /// added.
  private(set) var devices: [DeviceID: Int64] = [:]
  /// The row numbers of the listed records with fields ahead of the version.
  private var ahead: Set<Int64> = []
  /// The replica that was read.
  private let before: ReplicaState

  /// Creates the rows of a new scope.
  init(
    new name: [UInt8], for state: ReplicaState, patching: Patching
  ) {
    row = ScopeRow(name: name, head: state.encodedHead())
    records = RecordRows(row, patching: patching)
    (before, storedRow) = (state, row)
  }

  private init(
    _ row: ScopeRow, _ records: RecordRows, _ devices: [DeviceID: Int64],
    ahead: [Int64], _ state: ReplicaState
  ) {
    (self.row, self.records, self.devices) = (row, records, devices)
    self.ahead = Set(ahead)
    (before, storedRow) = (state, row)
  }

  /// Reads the devices of a scope and the records that a closure chooses.
  ///
  /// - Returns: The rows and the replica that they contain, or `nil` if the
  ///   scope does not exist.
  static func read(
    _ name: [UInt8], patching: Patching, on connection: any SQLConnection,
    choosing choose: (inout RowReader) throws -> Void
  ) throws -> (rows: HubRows, state: ReplicaState)? {
    try ScopeRow.checkLength(of: name)
    var (scope, devices) = (nil as ScopeRow?, [] as [DeviceRow])
    var ahead: [Int64] = []
    try connection.run(HubQueries.scope(connection.dialect), [.bytes(name)]) {
      row in
      if scope == nil {
        let row = try ScopeRow(row)
        guard row.isOfHub else { throw StoreError.scopeBelongsToDevice }
        if row.isErased { throw StoreError.scopeErased }
        scope = row
      } else if row.withBytes(1, \.isEmpty) {
        ahead.append(row.integer(0))
      } else {
        devices.append(try DeviceRow(row))
      }
    }
    guard let scope else { return nil }
    do {
      // A version is sorted, so add the devices in order.
      devices.sort { $0.device < $1.device }
      var assembly = try StoredAssembly(head: scope.head)
      let numbers = try DeviceRow.add(devices, of: scope, to: &assembly)
      try assembly.endSaves()
      var reader = RowReader(
        scope, numbers, ahead: ahead, assembly, patching: patching,
        on: connection)
      try choose(&reader)
      try reader.readPatchesOfRecords()
      let (records, state) = try reader.finished()
      return (
        HubRows(scope, records, numbers, ahead: ahead, state), state
      )
    } catch let error as WireError {
      throw StoreError.damaged("in the row of the replica: \(error.detail)")
    }
  }

  /// Returns the list of records with fields ahead of the version.
  ///
  /// Records that were listed before come first.
  func aheadList(of replica: Replica) -> AheadList {
    AheadList(of: replica.state) { position in
      ahead.contains(records.number(at: position) ?? 0)
    }
  }

  /// Returns whether a replica differs from the rows.
  func differ(from replica: Replica) -> Bool {
    replica.hasChangedRecords
      || StoredHead(before) != StoredHead(replica.current)
      || before.version != replica.current.version
  }
}

// Writing.
extension HubRows {
  private static let writeDevices = RowStatement(
    .bytes("id"), .integer("n"), .integer("time"), .integer("digest"),
    .integer("forked"), .integer("row_check")
  ) { _, rows in
    "INSERT INTO rejoin_device (scope, id, n, time, digest, forked, row_check) "
      + "SELECT u.scope, u.id, u.n, u.time, u.digest, u.forked, u.row_check "
      + "FROM \(rows) WHERE true ON CONFLICT (scope, id) DO UPDATE SET "
      + "n = excluded.n, time = excluded.time, digest = excluded.digest, "
      + "forked = excluded.forked, row_check = excluded.row_check"
  }

  private static let writeRecords = RowStatement(
    .bytes("entity"), .bytes("key"), .bytes("body")
  ) { _, rows in
    "INSERT INTO rejoin_record (scope, entity, key, body) "
      + "SELECT u.scope, u.entity, u.key, u.body FROM \(rows) WHERE true "
      + "ON CONFLICT (scope, entity, key) DO UPDATE SET body = excluded.body"
  }

  private static let writeTouches = RowStatement(
    .bytes("entity"), .bytes("key"), .bytes("id"), .integer("n")
  ) { dialect, rows in
    let record = dialect.lookup(
      "record", in: "rejoin_record", as: "r",
      where: "r.scope = u.scope AND r.entity = u.entity AND r.key = u.key")
    let device = dialect.lookup(
      "device", in: "rejoin_device", as: "d",
      where: "d.scope = u.scope AND d.id = u.id")
    return "INSERT INTO rejoin_touch (scope, record, device, n) "
      + "SELECT u.scope, r.record, d.device, u.n FROM \(rows) "
      + "\(record) \(device) WHERE true ON CONFLICT (record, device) "
      + "DO UPDATE SET n = excluded.n"
  }

  /// A row of `rejoin_touch` with the negative number of its scope lists a
  /// record with fields ahead of the version.
  private static let listAhead = RowStatement(
    .bytes("entity"), .bytes("key")
  ) { dialect, rows in
    let record = dialect.lookup(
      "record", in: "rejoin_record", as: "r",
      where: "r.scope = u.scope AND r.entity = u.entity AND r.key = u.key")
    return "INSERT INTO rejoin_touch (scope, record, device, n) "
      + "SELECT u.scope, r.record, -u.scope, 0 FROM \(rows) \(record)"
  }

  private static let unlistAhead = RowStatement(.integer("record")) { _, rows in
    "DELETE FROM rejoin_touch WHERE (record, device) IN "
      + "(SELECT u.record, -u.scope FROM \(rows))"
  }

  /// Writes the changes of a replica.
  mutating func write(
    _ replica: Replica, on connection: any SQLConnection
  ) throws {
    if row.scope == 0 {
      guard try row.insert(on: connection) else {
        throw StoreError.damaged("in the names of the scopes")
      }
      storedRow = row
    }
    var (bodies, touches) = ([] as [[SQLValue]], [] as [[SQLValue]])
    var added: Set<DeviceID> = []
    for position in replica.takeChangedRecords() {
      let id = replica.current.recordID(at: position)
      let name = [SQLValue.utf8(id.entity), .utf8(id.key)]
      if let body = try write(position, of: replica, connection) {
        bodies.append(name + [.bytes(body)])
      }
      for entry in newTouches(of: position, in: replica.current) {
        touches.append(
          name + [
            .bytes(Array(entry.device.bytes)),
            .integer(Int64(clamping: entry.count)),
          ])
        if devices[entry.device] == nil { added.insert(entry.device) }
      }
    }
    try writeDevices(of: replica.current, touching: added, connection)
    try HubRows.writeRecords.run(bodies, in: row.scope, on: connection)
    try HubRows.writeTouches.run(touches, in: row.scope, on: connection)
    try writeAhead(of: replica, connection)
    try writeHead(of: replica.current, connection)
  }

  /// Returns the touches of a record that were not written before.
  private func newTouches(
    of position: Int, in state: ReplicaState
  ) -> [VectorClock.Entry] {
    let known =
      position < before.recordCount
      ? before.lastSaves(ofRecordAt: position) : VectorClock()
    return state.lastSaves(ofRecordAt: position).entries.filter {
      $0.count > known[$0.device]
    }
  }

  /// Writes the patch of a changed record.
  ///
  /// Many requests arrive twice, so an unchanged record is not written.
  ///
  /// - Returns: The whole record, if it must be written instead.
  private mutating func write(
    _ position: Int, of replica: Replica, _ connection: any SQLConnection
  ) throws -> [UInt8]? {
    let isNew = position >= before.recordCount
    let change = records.change(
      of: position, in: replica.current, since: before)
    switch change {
    case .patch(let patch):
      if patch.isEmpty { return nil }
      try records.add(patch, to: position, in: row.scope, on: connection)
      return nil
    case .body(let body):
      if !isNew, body == before.encodedRecord(at: position) { return nil }
      if isNew { row.records += 1 }
      try records.dropPatches(of: position, on: connection)
      return body
    }
  }

  private mutating func writeDevices(
    of state: ReplicaState, touching added: Set<DeviceID>,
    _ connection: any SQLConnection
  ) throws {
    var saves: [(device: DeviceID, save: DeviceSave)] = []
    state.version.forEachDifference(from: before.version) { device, save, _ in
      saves.append((device, save))
    }
    // A touch needs the row of a device whose saves are all ahead.
    for device in added where state.version[device] == .none {
      saves.append((device, .none))
    }
    for (device, _) in saves { devices[device] = devices[device] ?? 0 }
    try HubRows.writeDevices.run(
      saves.map { device, save in
        [
          .bytes(Array(device.bytes)), .bits(save.sequence),
          .bits(save.time.rawValue), .bits(save.digest),
          .integer(save.isForked ? 1 : 0), .integer(save.check(of: device)),
        ]
      }, in: row.scope, on: connection)
  }

  /// Writes which records have fields ahead of the version.
  private func writeAhead(
    of replica: Replica, _ connection: any SQLConnection
  ) throws {
    var (listed, new) = (ahead, [] as [[SQLValue]])
    for position in aheadList(of: replica).positions
    where listed.remove(records.number(at: position) ?? 0) == nil {
      let id = replica.current.recordID(at: position)
      new.append([.utf8(id.entity), .utf8(id.key)])
    }
    try HubRows.unlistAhead.run(
      listed.map { [.integer($0)] }, in: row.scope, on: connection)
    try HubRows.listAhead.run(new, in: row.scope, on: connection)
  }

  private mutating func writeHead(
    of state: ReplicaState, _ connection: any SQLConnection
  ) throws {
    if StoredHead(state) != StoredHead(before) {
      row.head = state.encodedHead()
    }
    row.devices = Int64(devices.count)
    row.patches = records.patchCount
    if row != storedRow { try row.update(on: connection) }
  }
}
