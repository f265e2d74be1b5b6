// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

extension StoreReader {
  /// The state of a scope after one commit.
  ///
  /// A snapshot finds each record in the file when it is asked for. If a row cannot
  /// be read, the snapshot has no records from then on, and
  /// ``StoreReader/read(_:)`` throws the error.
  public final class Snapshot: ReadableReplica {
    public let schema: Schema
    private let connection: any SQLConnection
    private let scope: ScopeRow
    private var records = StoredRecordReader()
    /// The first error.
    private(set) var failure: (any Error)?
    private var isEnded = false

    init(of scope: ScopeRow, _ schema: Schema, on connection: any SQLConnection)
    {
      (self.scope, self.schema) = (scope, schema)
      self.connection = connection
    }

    /// Ends the use of the snapshot with its transaction.
    func end() { isEnded = true }

    /// Reads from the rows, unless an earlier call failed.
    private func attempt<Value>(
      or nothing: Value, _ body: () throws -> Value
    ) -> Value {
      demand(
        !isEnded,
        "A snapshot must not be used after `read` returned. Return what you need "
          + "from the closure.")
      if failure != nil { return nothing }
      do { return try body() } catch {
        if failure == nil { failure = StoreError(opening: error) }
        return nothing
      }
    }
  }
}

// The scope.
extension StoreReader.Snapshot {
  /// The device ID of the store's saves.
  ///
  /// - Complexity: O(1), with a part of the file to decode at each access.
  public var device: DeviceID {
    attempt(or: DeviceID(0)) { try assembly().device }
  }

  /// The saves that are fully applied, without the fields ahead of them.
  ///
  /// - Complexity: O(*d*), where *d* is the number of devices.
  public var version: ReplicaVersion {
    attempt(or: ReplicaVersion()) {
      var assembly = try assembly()
      _ = try ScopeRows.readDevices(into: &assembly, scope, connection)
      try assembly.endSaves()
      return assembly.version
    }
  }

  private func assembly() throws -> StoredAssembly {
    do { return try StoredAssembly(head: scope.head) } catch {
      throw StoreError.damaged("in the row of the replica: \(error.detail)")
    }
  }
}

// Single records.
extension StoreReader.Snapshot {
  /// Reads a record, even if it was deleted.
  ///
  /// - Returns: The record, or `nil` if no known save touched it.
  /// - Complexity: O(log *n* + *f* + *r* log *n*), where *n* is the number of all
  ///   records, and *f* and *r* are those of fields and references in the record.
  public func record(_ id: RecordID) -> Record? {
    attempt(or: nil) {
      var record: Record?
      try connection.run(
        "SELECT \(RowReader.columns) FROM rejoin_record r "
          + "WHERE scope = $1 AND entity = $2 AND key = $3",
        [.integer(scope.scope), .utf8(id.entity), .utf8(id.key)]
      ) { row in
        record = try read(row, of: id.entity)
        guard record?.id == id else { throw damagedIndex(row) }
      }
      return record
    }
  }

  /// Returns whether a record exists.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of all records.
  public func exists(_ id: RecordID) -> Bool {
    attempt(or: false) {
      let flags = try connection.integer(
        "SELECT state FROM rejoin_record INDEXED BY rejoin_existing "
          + "WHERE scope = $1 AND entity = $2 AND key = $3 "
          + "AND \(Tables.isExisting)",
        .integer(scope.scope), .utf8(id.entity), .utf8(id.key))
      return RecordFlags(rawValue: flags ?? 0)
        .contains(.existing(schema.deletion(of: id.entity)))
    }
  }

  /// Reads the record of a row with the columns of ``RowReader``.
  private func read(_ row: any SQLRow, of entity: String) throws -> Record {
    let number = row.integer(0)
    let stored: StoredRecord
    if let patched = try patched(row) {
      stored = patched
    } else {
      do {
        stored = try row.withBytes(3) { try records.read($0) }
      } catch let error as WireError {
        throw StoreError.damaged(inRecord: number, error)
      }
      try RowReader.checkKey(of: row, stored.id)
    }
    guard stored.flags.rawValue == row.integer(4) else {
      throw StoreError.damagedState(ofRow: number)
    }
    return stored.record(schema, exists: exists)
  }

  /// Returns the record of a row with its patches, or `nil` without patches.
  private func patched(_ row: any SQLRow) throws -> StoredRecord? {
    if scope.patches == 0 { return nil }
    var reader: RowReader?
    try connection.run(
      RowReader.patches, [.integer(row.integer(0))]
    ) { patch in
      if reader == nil {
        reader = RowReader(
          scope, [:], StoredAssembly(), patching: Patching(), on: connection)
        try reader?.add(row)
      }
      try reader?.addPatch(patch)
    }
    return reader?.record(at: 0)
  }

  private func damagedIndex(_ row: any SQLRow) -> StoreError {
    .damaged("in the index of row \(row.integer(0)) of the records")
  }
}

// Lists.
extension StoreReader.Snapshot {
  /// Lists the IDs of the existing records of an entity, sorted.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - key: The key after which the list starts, or `nil` for the first
  ///     record.
  ///   - limit: The maximum number of IDs to return, or `nil` for no limit.
  /// - Precondition: `limit` is not negative.
  /// - Complexity: O(*k* + log *n*), where *k* is the number of listed IDs and
  ///   *n* that of all records.
  public func recordIDs(
    of entity: String, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    attempt(or: []) {
      var ids: [RecordID] = []
      try list("r.key", of: entity, after: key, limit: limit) { row in
        ids.append(RecordID(entity, row.text(bytes: 0)))
      }
      return ids
    }
  }

  /// Lists the existing records of a declared entity, sorted by key.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - key: The key after which the list starts, or `nil` for the first
  ///     record.
  ///   - limit: The maximum number of records to return, or `nil` for no limit.
  /// - Precondition: The schema declares the entity, and `limit` is not
  ///   negative.
  /// - Complexity: The cost of ``recordIDs(of:after:limit:)``, and of reading the
  ///   listed records.
  public func records<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [TypedRecord<E>] {
    let fields = schema.fields(of: entity)
    return attempt(or: []) {
      var records: [TypedRecord<E>] = []
      try list(of: fields.entityName, after: key, limit: limit) { record in
        if let typed = record.typed(fields) { records.append(typed) }
      }
      return records
    }
  }

  /// Returns the number of existing records of an entity.
  ///
  /// - Complexity: O(*n*), where *n* is the number of existing records.
  public func recordCount(of entity: String) -> Int {
    attempt(or: 0) {
      let count = try connection.integer(
        "SELECT count(*) FROM rejoin_record r INDEXED BY rejoin_existing "
          + "WHERE scope = $1 AND entity = $2 AND \(exists(in: entity))",
        .integer(scope.scope), .utf8(entity))
      return Int(count ?? 0)
    }
  }

  /// Returns the registers of an entity's existing records that have conflicts,
  /// sorted.
  ///
  /// - Complexity: O(*n* + *k*), where *n* is the number of existing records and
  ///   *k* the size of those with conflicts.
  public func conflictedFields(of entity: String) -> [FieldLocation] {
    attempt(or: []) {
      var locations: [FieldLocation] = []
      let flag = RecordFlags.conflicted.rawValue
      try list(of: entity, where: "AND r.state & \(flag) <> 0") { record in
        locations += record.conflictedFields(schema)
      }
      return locations
    }
  }

  /// The IDs of all existing records, except the library's own, sorted.
  ///
  /// - Complexity: O(*n*), where *n* is the number of existing records.
  public var allRecordIDs: [RecordID] {
    attempt(or: []) {
      var ids: [RecordID] = []
      try connection.run(
        "SELECT entity, key, state FROM rejoin_record "
          + "INDEXED BY rejoin_existing "
          + "WHERE scope = $1 AND \(Tables.isExisting) ORDER BY entity, key",
        [.integer(scope.scope)]
      ) { row in
        let entity = row.text(bytes: 0)
        if BuiltIn.isBuiltIn(entity) || row.integer(2) & bit(of: entity) == 0 {
          return
        }
        ids.append(RecordID(entity, row.text(bytes: 1)))
      }
      return ids
    }
  }

  /// The flag of the records of an entity that exist.
  private func bit(of entity: String) -> Int64 {
    RecordFlags.existing(schema.deletion(of: entity)).rawValue
  }

  /// Returns the condition for records of an entity that exist.
  ///
  /// If the flag were a parameter, SQLite would prepare the statement again each
  /// time, to compare the value with the condition of the index.
  private func exists(in entity: String) -> String {
    "state & \(bit(of: entity)) <> 0 AND \(Tables.isExisting)"
  }

  /// Calls `body` with the existing records of an entity, sorted by key.
  private func list(
    of entity: String, after key: String? = nil, limit: Int? = nil,
    where condition: String = "", _ body: (Record) throws -> Void
  ) throws {
    var last = key
    try list(
      RowReader.columns, of: entity, after: key, limit: limit,
      where: condition
    ) { row in
      let record = try read(row, of: entity)
      guard record.id.entity == entity,
        last.map({ RecordID(entity, $0) < record.id }) ?? true
      else { throw damagedIndex(row) }
      last = record.id.key
      try body(record)
    }
  }

  /// Calls `body` with columns of the existing records of an entity, sorted by
  /// key.
  private func list(
    _ columns: String, of entity: String, after key: String?, limit: Int?,
    where condition: String = "", _ body: (any SQLRow) throws -> Void
  ) throws {
    demand(
      (limit ?? 0) >= 0,
      "`limit` must not be negative. Pass `nil` for no limit.")
    // A zero byte makes the next greater key.
    let first = key.map { Array($0.utf8) + [0 as UInt8] } ?? []
    try connection.run(
      "SELECT \(columns) FROM rejoin_record r INDEXED BY rejoin_existing "
        + "WHERE scope = $1 AND entity = $2 AND key >= $3 "
        + "AND \(exists(in: entity)) \(condition) ORDER BY key LIMIT $4",
      [
        .integer(scope.scope), .utf8(entity), .bytes(first),
        .integer(Int64(limit ?? -1)),
      ], body)
  }
}

extension SQLRow {
  /// Returns the text of a column that stores its bytes.
  fileprivate func text(bytes column: Int) -> String {
    withBytes(column) { String(decoding: $0, as: UTF8.self) }
  }
}
