// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Imports rows that every device already has, for example from the database
  /// of an earlier version of the app.
  ///
  /// The rows become one save of a device whose ID is a digest of their
  /// content. Devices that import the same rows therefore make the same save:
  /// every record exists once, counters count once, and nothing conflicts. The
  /// save has the earliest timestamp, so any concurrent edit outranks it.
  /// Import all rows in one call, and import the same rows on all devices. An
  /// import of other rows is a separate, concurrent save.
  ///
  /// - Parameter body: A closure that writes the rows. It runs on an empty
  ///   replica.
  /// - Returns: The report of the changes.
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  @discardableResult
  public func importRows(
    _ body: (Transaction) -> Void
  ) throws(SaveError) -> MergeReport {
    let empty = emptyReplica()
    let records = try rows(writtenBy: body, on: empty)
    if records.isEmpty { return MergeReport() }
    var batch = Digest()
    for row in records {
      batch.add(row.content, of: row.key, empty.stored.names)
    }
    let dot = Dot(DeviceID(high: DeviceID.importMark, low: batch.value), 1)
    // An empty replica has no writes to supersede.
    var ignored = SaveReport()
    for row in records {
      empty.stored.commit(
        row.content, of: row.key, at: dot, time: .zero, into: &batch, &ignored)
    }
    empty.stored.version.insert(
      .init(sequence: 1, time: .zero, digest: batch.value), of: dot.device)
    return empty.delta().map { apply($0) } ?? MergeReport()
  }

  /// Returns an empty replica with the same schema, for writing rows.
  ///
  /// If `body` ran on this replica, it would read local edits, and the rows
  /// would depend on them.
  func emptyReplica() -> Replica {
    let empty = Replica(
      device: DeviceID(0), schema: schema, wallClock: wallClock,
      makeDeviceID: makeDeviceID)
    empty.recordByteLimit = recordByteLimit
    return empty
  }

  /// Returns the records that `body` writes, sorted by ID.
  func rows(
    writtenBy body: (Transaction) -> Void, on empty: Replica
  ) throws(SaveError) -> [RunMap<RecordID, PendingRecord>.Entry] {
    let transaction = Transaction(empty)
    body(transaction)
    if let failure = transaction.failure { throw failure }
    let rows = transaction.pending.sorted
    for row in rows {
      try empty.stored.checkSize(
        of: row.content, of: row.key, at: Dot(empty.device, 1), time: .zero)
    }
    return rows
  }
}

extension DeviceID {
  /// `import` in ASCII, the first half of the device IDs of imports.
  fileprivate static let importMark: UInt64 = 0x696d_706f_7274_0000

  /// Whether the device stands for an import with ``Replica/importRows(_:)``.
  ///
  /// The ID is a digest of the imported rows, so it is the same on every device
  /// that imports them. No replica has such an ID.
  public var isImport: Bool { high == DeviceID.importMark }
}

extension Digest {
  fileprivate mutating func add(
    _ record: PendingRecord, of id: RecordID, _ names: FieldNames
  ) {
    add(id.entity)
    add(id.key)
    add(record.mark == .alive ? 1 : 0)
    for (key, edit) in record.edits(named: names) {
      add(key)
      add(key.kind.rawValue)
      add(edit)
    }
  }
}
