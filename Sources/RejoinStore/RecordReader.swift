// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A reader of record rows, which assembles a replica.
struct RecordReader {
  let row: ScopeRow
  /// The number of each device's row.
  let devices: [DeviceID: Int64]
  /// The greatest ID of a record that was read.
  var last: RecordID?
  /// The number of bytes in the bodies that were read.
  private(set) var byteCount = 0
  /// The row number of each record, in reading order.
  private(set) var numbers: [Int64] = []
  private var seen: Set<Int64> = []
  /// The bodies of the rows that a hub read.
  private var bodies: [[UInt8]] = []
  /// The records with patches, by position.
  private var patches: [Int: RecordRows.Patches] = [:]
  private var assembly: StoredAssembly
  private let patching: Patching
  let connection: any SQLConnection

  init(
    _ row: ScopeRow, _ devices: [DeviceID: Int64], _ assembly: StoredAssembly,
    patching: Patching, on connection: any SQLConnection
  ) {
    (self.row, self.devices, self.assembly) = (row, devices, assembly)
    self.connection = connection
    self.patching = patching
    numbers.reserveCapacity(Int(clamping: min(row.records, 1 << 16)))
  }

  /// Reads the rows `r` of a source, except those that were read before.
  mutating func read(_ source: String, _ values: SQLValue...) throws {
    try read(source, values)
  }

  /// Reads the rows `r` of a source, except those that were read before.
  mutating func read(_ source: String, _ values: [SQLValue]) throws {
    try connection.run(
      "SELECT r.record, r.entity, r.key, r.body FROM " + source, values
    ) { row in
      let number = row.integer(0)
      guard seen.insert(number).inserted else { return }
      do {
        let id = try row.withBytes(3) { body in
          byteCount += body.count
          // A hub has no patches.
          if self.row.isOfHub {
            bodies.append(Array(body))
          } else if body.count >= patching.least {
            patches[numbers.count] = RecordRows.Patches(body: body.count)
          }
          return try assembly.add(record: body)
        }
        let isOwn =
          row.withBytes(1) { $0.elementsEqual(id.entity.utf8) }
          && row.withBytes(2) { $0.elementsEqual(id.key.utf8) }
        guard isOwn else {
          throw StoreError.damaged("in the key of row \(number) of the records")
        }
        last = last.map { max($0, id) } ?? id
      } catch let error as WireError {
        throw StoreError.damaged(
          "in row \(number) of the records: \(error.detail)")
      }
      numbers.append(number)
    }
  }

  /// Reads the rows with the numbers that a query returns, except those that
  /// were read before.
  ///
  /// The query and the rows are separate statements. In one statement, a
  /// database that overestimates the number of rows would scan every record.
  ///
  /// - Parameter limit: The number of bytes after which reading stops.
  /// - Returns: Whether all rows were read.
  @discardableResult
  mutating func readRows(
    foundBy query: String, _ values: [SQLValue], byteLimit limit: Int = .max
  ) throws -> Bool {
    var (found, known) = ([] as [SQLValue], seen)
    try connection.run(query, values) { row in
      if known.insert(row.integer(0)).inserted {
        found.append(.integer(row.integer(0)))
      }
    }
    // Use a fixed number of parameters, so the statement can be reused.
    let count = 100
    let places = Array(repeating: "?", count: count).joined(separator: ", ")
    for start in stride(from: 0, to: found.count, by: count) {
      if byteCount >= limit { return false }
      let some = (start..<start + count).map { found[min($0, found.count - 1)] }
      try read(
        "rejoin_record r WHERE r.record IN (\(places))", some)
    }
    return true
  }

  /// Reads one row and its patches.
  mutating func readRow(_ number: Int64) throws {
    try read(
      "rejoin_record r WHERE record = ?", .integer(number))
    if row.patches == 0 { return }
    _ = try readPatches("record", number, of: [number: numbers.count - 1])
  }

  /// Reads the digests of the replica's own saves.
  mutating func readDigests() throws -> OwnDigestRows {
    try OwnDigestRows.read(into: &assembly, row, connection)
  }

  /// Reads all patches, after all records are read.
  mutating func readPatches() throws {
    if row.patches == 0 { return }
    let count = try readPatches(
      "scope", row.scope,
      of: Dictionary(uniqueKeysWithValues: zip(numbers, 0...)))
    guard count == row.patches else {
      throw StoreError.damaged(
        "with \(count) patches instead of \(row.patches)")
    }
  }

  /// Reads the patches that have `number` in a column.
  private mutating func readPatches(
    _ column: String, _ number: Int64, of positions: [Int64: Int]
  ) throws -> Int64 {
    var count: Int64 = 0
    try connection.run(
      "SELECT record, place, body, row_check FROM rejoin_patch "
        + "WHERE \(column) = ? ORDER BY record, place", [.integer(number)]
    ) { row in
      let (record, place) = (row.integer(0), row.integer(1))
      let check = RecordRows.check(of: row.bytes(2), at: place, of: record)
      guard let position = positions[record], check == row.integer(3) else {
        throw StoreError.damaged(
          "in patch \(place) of row \(record) of the records")
      }
      do {
        try row.withBytes(2) { patch in
          try assembly.add(patch: patch, toRecordAt: position)
          // If the row is small, the next write replaces the whole record.
          patches[position, default: .init(body: 0)].add(patch)
        }
      } catch let error as WireError {
        throw StoreError.damaged(
          "in patch \(place) of row \(record) of the records: \(error.detail)")
      }
      count += 1
    }
    return count
  }

  /// The rows that were read.
  var rows: RecordRows {
    RecordRows(row, numbers, patches, bodies, patching: patching)
  }

  /// Returns the changes of the scope that a version lacks.
  func missingChanges(
    since basis: ReplicaVersion, inParts: Bool = false
  ) -> MissingChanges {
    assembly.missingChanges(since: basis, inParts: inParts)
  }

  /// Returns the records that were read.
  consuming func parts() -> ReplicaState { assembly.parts() }

  consuming func finished() throws -> ReplicaState {
    try assembly.finished()
  }
}
