// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A reader of record rows, which assembles a replica.
struct RowReader {
  let row: ScopeRow
  /// The number of each device's row.
  let devices: [DeviceID: Int64]
  /// The row numbers of the records with fields ahead of the version.
  let ahead: [Int64]
  /// The greatest ID of a record that was read.
  var last: RecordID?
  /// The number of bytes in the bodies that were read.
  private(set) var byteCount = 0
  /// The row number of each record, in reading order.
  private(set) var numbers: [Int64] = []
  /// The position of each row in `numbers`.
  private var positions: [Int64: Int] = [:]
  /// The flags in each row of a device's scope, by position.
  private var flags: [RecordFlags] = []
  /// The digests of the rows of a device's scope.
  private(set) var digests = RecordDigests()
  /// The records with patches, by position.
  private var patches: [Int: RecordRows.Patches] = [:]
  private var assembly: StoredAssembly
  private let patching: Patching
  let connection: any SQLConnection

  init(
    _ row: ScopeRow, _ devices: [DeviceID: Int64], ahead: [Int64] = [],
    _ assembly: StoredAssembly, patching: Patching,
    on connection: any SQLConnection
  ) {
    (self.row, self.devices, self.assembly) = (row, devices, assembly)
    self.ahead = ahead
    self.connection = connection
    self.patching = patching
    numbers.reserveCapacity(Int(clamping: min(row.records, 1 << 16)))
  }

  /// The columns that ``add(_:)`` reads.
  ///
  /// A hub need not read the last one.
  static let columns = "r.record, r.entity, r.key, r.body, r.state"

  /// Reads the rows `r` of a source, except those that were read before.
  mutating func read(_ source: String, _ values: SQLValue...) throws {
    try connection.run(
      "SELECT \(RowReader.columns) FROM " + source, values
    ) { row in
      try add(row)
    }
  }

  /// Adds a row with the ``columns``, unless it was added before.
  mutating func add(_ row: any SQLRow) throws {
    let number = row.integer(0)
    guard positions[number] == nil else { return }
    do {
      let id = try row.withBytes(3) { body in
        byteCount += body.count
        if body.count >= patching.least {
          patches[numbers.count] = RecordRows.Patches(body: body.count)
        }
        return try assembly.add(record: body)
      }
      try RowReader.checkKey(of: row, id)
      last = last.map { max($0, id) } ?? id
    } catch let error as WireError {
      throw StoreError.damaged(inRecord: number, error)
    }
    positions[number] = numbers.count
    numbers.append(number)
    if self.row.isOfHub { return }
    let flags = RecordFlags(rawValue: row.integer(4))
    self.flags.append(flags)
    digests.add(row, flags)
  }

  /// Throws an error if the key of a row is not that of its record.
  static func checkKey(of row: any SQLRow, _ id: RecordID) throws {
    func has(_ column: Int, _ text: String) -> Bool {
      var text = text
      return row.withBytes(column) { bytes in
        text.withUTF8 { bytes.hasEqualBytes(UnsafeRawBufferPointer($0)) }
      }
    }
    if has(1, id.entity), has(2, id.key) { return }
    throw StoreError.damaged(
      "in the key of row \(row.integer(0)) of the records")
  }

  /// The statement that reads the patches of a record.
  static let patches =
    "SELECT record, place, body, row_check FROM rejoin_patch "
    + "WHERE record = $1 ORDER BY place"

  /// Reads one row and its patches.
  mutating func readRow(_ number: Int64) throws {
    try read(
      "rejoin_record r WHERE record = $1", .integer(number))
    if row.patches == 0 { return }
    try connection.run(RowReader.patches, [.integer(number)]) { row in
      try addPatch(row)
    }
  }

  /// Reads the digests of the replica's own saves.
  mutating func readDigests() throws -> OwnDigestRows {
    try OwnDigestRows.read(into: &assembly, row, connection)
  }

  /// Reads all patches, after all records are read.
  mutating func readPatches() throws {
    if row.patches == 0 { return }
    var count: Int64 = 0
    try connection.run(
      "SELECT record, place, body, row_check FROM rejoin_patch "
        + "WHERE scope = $1 ORDER BY record, place", [.integer(row.scope)]
    ) { row in
      try addPatch(row)
      count += 1
    }
    guard count == row.patches else {
      throw StoreError.damaged(
        "with \(count) patches instead of \(row.patches)")
    }
  }

  /// Joins a patch to its record.
  ///
  /// - Parameter row: A row with the columns `record`, `place`, `body` and
  ///   `row_check`. The rows of a record must come in the order of the places.
  mutating func addPatch(_ row: any SQLRow) throws {
    let (record, place) = (row.integer(0), row.integer(1))
    let check = RecordRows.check(of: row.bytes(2), at: place, of: record)
    guard let position = positions[record],
      place == patches[position]?.count ?? 0, check == row.integer(3)
    else {
      throw StoreError.damaged(
        "in patch \(place) of row \(record) of the records")
    }
    do {
      try row.withBytes(2) { patch in
        byteCount += patch.count
        try assembly.add(patch: patch, toRecordAt: position)
        // If the row is small, the next write replaces the whole record.
        patches[position, default: .init(body: 0)].add(patch)
      }
    } catch let error as WireError {
      throw StoreError.damaged(
        "in patch \(place) of row \(record) of the records: \(error.detail)")
    }
  }

  /// The rows that were read.
  var rows: RecordRows {
    RecordRows(row, numbers, flags, patches, patching: patching)
  }

  /// Returns the changes of the scope that a version lacks.
  func missingChanges(
    since basis: ReplicaVersion, as form: MissingChanges.Form
  ) -> MissingChanges {
    assembly.missingChanges(since: basis, as: form)
  }

  /// Returns a record that was read.
  func record(at position: Int) -> StoredRecord {
    assembly.record(at: position)
  }

  /// Returns the records that were read.
  consuming func parts() -> ReplicaState { assembly.parts() }

  /// Returns the rows that were read, and the replica that they contain.
  consuming func finished() throws -> (rows: RecordRows, ReplicaState) {
    let rows = rows
    var state = try assembly.finished()
    if !row.isOfHub, let position = state.firstRecord(differingFrom: flags) {
      throw StoreError.damagedState(ofRow: numbers[position])
    }
    for position in rows.large { state.recordWritten(position) }
    return (rows, state)
  }
}

extension StoreError {
  /// The error for a row whose record cannot be decoded.
  static func damaged(
    inRecord number: Int64, _ error: WireError
  ) -> StoreError {
    .damaged("in row \(number) of the records: \(error.detail)")
  }

  /// The error for a row whose flags do not agree with its record.
  static func damagedState(ofRow number: Int64) -> StoreError {
    .damaged("in the state of row \(number) of the records")
  }
}
