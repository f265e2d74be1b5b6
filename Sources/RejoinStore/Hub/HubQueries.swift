// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The statements that read a hub's rows.
///
/// Every join is a ``RejoinSQL/SQLDialect/lookup(_:in:as:where:)``.
enum HubQueries {
  /// Reads the row of the scope with a name, and then the rows of its devices.
  ///
  /// One statement reads one state of the database in one round trip. The
  /// records with fields ahead of the version come last. They have no ID of a
  /// device.
  static func scope(_ dialect: SQLDialect) -> String {
    let devices = dialect.lookup(
      "device, id, n, time, digest, forked, row_check", in: "rejoin_device",
      as: "d", where: "d.scope = s.scope")
    let ahead = dialect.lookup(
      "record", in: "rejoin_touch", as: "t", where: "t.device = -s.scope")
    return "SELECT \(ScopeRow.columns) FROM rejoin_scope WHERE name = $1 "
      + "UNION ALL SELECT d.device, d.id, d.n, d.time, '', d.digest, "
      + "d.forked, d.row_check, 0 FROM rejoin_scope s \(devices) "
      + "WHERE s.name = $1 "
      + "UNION ALL SELECT t.record, '', 0, 0, '', 0, 0, 0, 0 "
      + "FROM rejoin_scope s \(ahead) WHERE s.name = $1"
  }

  /// Reads the records that a condition selects for each row of a source.
  private static func recordRows(
    _ dialect: SQLDialect, of source: String, where condition: String
  ) -> String {
    "SELECT r.record, r.entity, r.key, r.body FROM \(source) "
      + dialect.lookup(
        "record, entity, key, body", in: "rejoin_record", as: "r",
        where: condition)
  }

  /// Reads records by ID.
  static let records = RowStatement(.bytes("entity"), .bytes("key")) {
    recordRows(
      $0, of: $1,
      where: "r.scope = u.scope AND r.entity = u.entity AND r.key = u.key")
  }

  /// Reads records by number.
  static let numberedRecords = RowStatement(.integer("record")) {
    recordRows($0, of: $1, where: "r.record = u.record")
  }

  /// Reads the patches of records.
  static let patches = RowStatement(.integer("record")) {
    "SELECT p.record, p.place, p.body, p.row_check FROM \($1) "
      + $0.lookup(
        "record, place, body, row_check", in: "rejoin_patch", as: "p",
        where: "p.record = u.record")
      + " ORDER BY p.record, p.place"
  }

  /// The source of the touches `t` of listed devices after listed saves.
  private static func touches(_ dialect: SQLDialect) -> String {
    switch dialect {
    case .sqlite:
      "json_each($1) d "
        + dialect.lookup(
          "", in: "rejoin_touch", as: "t",
          where: "t.device = json_extract(d.value, '$[0]') "
            + "AND t.n > json_extract(d.value, '$[1]')")
    case .postgresql:
      "json_array_elements($1::json) d "
        + dialect.lookup(
          "record", in: "rejoin_touch", as: "t",
          where: "t.device = (d->>0)::bigint AND t.n > (d->>1)::bigint")
    }
  }

  /// Counts touches up to a limit.
  static func touchCount(_ dialect: SQLDialect) -> String {
    "SELECT count(*) FROM "
      + "(SELECT t.record FROM \(touches(dialect)) LIMIT $2) c"
  }

  /// Reads touched records up to a limit.
  static func touchedRecords(_ dialect: SQLDialect) -> String {
    recordRows(
      dialect,
      of: "(SELECT DISTINCT t.record FROM \(touches(dialect)) LIMIT $2) f",
      where: "r.record = f.record")
  }

  /// Reads the numbers of the touched records after an ID, in the order of
  /// their IDs.
  static func touchedNumbers(_ dialect: SQLDialect) -> String {
    "SELECT r.record FROM "
      + "(SELECT DISTINCT t.record FROM \(touches(dialect))) f "
      + dialect.lookup(
        "record, entity, key", in: "rejoin_record", as: "r",
        where: "r.record = f.record")
      + " WHERE (r.entity, r.key) > ($2, $3) ORDER BY r.entity, r.key"
  }
}

// The records that a request of a hub needs.
extension RowReader {
  /// The number of touches above which a part is read in the order of the
  /// records.
  private static let fewTouches: Int64 = 10_000

  mutating func read(_ change: HubChange) throws {
    switch change {
    case .erase: break
    case .recordVersion: try readBuiltIn()
    case .join(let delta, _):
      // The retirement shows whether a device came back.
      let retirements = delta.intervals.keys.map {
        RecordID(BuiltIn.retirement, $0.hexadecimal)
      }
      let ids = (delta.recordIDs + retirements).map {
        [SQLValue.utf8($0.entity), .utf8($0.key)]
      }
      try HubQueries.records.run(ids, in: row.scope, on: connection) {
        try add($0)
      }
    }
  }

  /// Reads the records of enrolled and retired devices.
  mutating func readBuiltIn() throws {
    try read(
      "rejoin_record r WHERE scope = $1 AND entity IN ($2, $3)",
      .integer(row.scope), .utf8(BuiltIn.roster), .utf8(BuiltIn.retirement))
  }

  /// Reads the records that the missing saves touch.
  ///
  /// - Throws: ``StoreError/tooManyRecords(_:limit:)``
  mutating func readTouched(
    since missing: MissingChanges, limit: Int
  ) throws {
    guard let saves = saves(of: missing.intervals.keys, since: missing.known)
    else { return }
    try connection.run(
      HubQueries.touchedRecords(connection.dialect),
      [saves, .integer(Int64(min(limit, .max - 1)) + 1)]
    ) { row in
      try add(row)
    }
    if numbers.count > limit {
      throw StoreError.tooManyRecords(numbers.count, limit: limit)
    }
  }

  /// Reads the records of a part of the missing changes.
  ///
  /// - Returns: The last record that was read, or `nil` if no records follow
  ///   it.
  mutating func readPart(
    of missing: MissingChanges, byteLimit: Int, recordLimit: Int
  ) throws -> RecordID? {
    guard let saves = saves(of: missing.intervals.keys, since: missing.known)
    else {
      try readAhead()
      return nil
    }
    // Read more than the limit, because a row is larger than its record in a
    // delta.
    let limit = min(max(byteLimit, 1), .max / 4) / 4 * 5 + 1
    let few = RowReader.fewTouches
    let count = try connection.integer(
      HubQueries.touchCount(connection.dialect), saves, .integer(few + 1))
    let isEnd =
      try count ?? 0 > few
      ? readFollowing(missing.range.after, limit, recordLimit)
      : readTouched(saves, after: missing.range.after, limit, recordLimit)
    return isEnd ? nil : last
  }

  /// Reads touched records after another record, up to a limit.
  ///
  /// - Returns: Whether no more records follow.
  private mutating func readTouched(
    _ saves: SQLValue, after id: RecordID?, _ byteLimit: Int,
    _ recordLimit: Int
  ) throws -> Bool {
    var found: [[SQLValue]] = []
    try connection.run(
      HubQueries.touchedNumbers(connection.dialect),
      [saves, .utf8(id?.entity ?? ""), .utf8(id?.key ?? "")]
    ) { row in
      found.append([.integer(row.integer(0))])
    }
    while !found.isEmpty {
      if byteCount >= byteLimit || numbers.count >= recordLimit { return false }
      let some = Array(found.prefix(min(100, recordLimit - numbers.count)))
      found.removeFirst(some.count)
      try HubQueries.numberedRecords.run(
        some, in: row.scope, on: connection
      ) { row in
        try add(row)
      }
    }
    return true
  }

  /// Reads the records after another record, up to a limit.
  ///
  /// If many records changed, this is faster than finding all changes again for
  /// each part.
  ///
  /// - Returns: Whether no more records follow.
  private mutating func readFollowing(
    _ id: RecordID?, _ byteLimit: Int, _ recordLimit: Int
  ) throws -> Bool {
    var count = 16
    last = id
    while byteCount < byteLimit, numbers.count < recordLimit {
      count = min(count, recordLimit - numbers.count)
      let read = numbers.count
      let last = last ?? RecordID("", "")
      try self.read(
        "rejoin_record r WHERE scope = $1 AND (entity, key) > ($2, $3) "
          + "ORDER BY entity, key LIMIT $4",
        .integer(row.scope), .utf8(last.entity), .utf8(last.key),
        .integer(Int64(count)))
      if numbers.count - read < count { return true }
      count = min(2 * count, 1_024)
    }
    return false
  }

  /// Reads the patches of the records that were read.
  mutating func readPatchesOfRecords() throws {
    if row.patches == 0 || numbers.isEmpty { return }
    let records = numbers.map { [SQLValue.integer($0)] }
    try HubQueries.patches.run(records, in: row.scope, on: connection) {
      try addPatch($0)
    }
  }

  /// Reads the records with fields ahead of the version.
  mutating func readAhead() throws {
    try HubQueries.numberedRecords.run(
      ahead.map { [.integer($0)] }, in: row.scope, on: connection
    ) { row in
      try add(row)
    }
  }

  /// Reads the first records that some saves touched, up to a limit.
  mutating func read(
    _ uncovered: [ReplicaState.UncoveredSaves], limit: Int
  ) throws {
    for some in uncovered {
      let known: VectorClock = [some.device: some.known]
      guard let saves = saves(of: [some.device], since: known) else { continue }
      _ = try readTouched(
        saves, after: some.after, .max, numbers.count + limit)
    }
  }

  /// Returns devices and the last known save of each, as a value for
  /// ``HubQueries``.
  ///
  /// - Returns: The value, or `nil` if no device has a row.
  private func saves(
    of some: some Sequence<DeviceID>, since known: VectorClock
  ) -> SQLValue? {
    // Pass a list, so that one statement serves any number of devices.
    let list = some.compactMap { device in
      devices[device].map { number in
        // Greater numbers are stored as `Int64.max`, so always find this
        // number.
        let known = min(Int64(clamping: known[device]), .max - 1)
        return "[\(number),\(known)]"
      }
    }
    return list.isEmpty ? nil : .text("[\(list.joined(separator: ","))]")
  }
}
