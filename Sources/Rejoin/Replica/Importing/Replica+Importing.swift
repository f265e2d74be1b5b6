// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Imports rows from a server that is not a replica.
  ///
  ///     try phone.importRows(from: "crm", modifiedAt: row.modified) { transaction in
  ///       transaction[Customer.self, row.key].name = row.name
  ///     }
  ///
  /// You can import the same rows repeatedly. The changed fields become one
  /// save of a *pull device*: a device of this installation that represents the
  /// server, with the server's time. A field counts as changed if its value
  /// differs from the latest known pull of any installation, and the server's
  /// time is later. If the record was deleted and created again since that
  /// pull, every field of the row counts as changed.
  ///
  /// The save observes only the earlier pulls from that server, so it never
  /// supersedes a local edit. If both sides changed a register, the writes are
  /// concurrent and appear as a conflict. Two installations that pull the same
  /// rows write the same values, which is not a conflict.
  ///
  /// A time that is later than the wall clock by more than the maximum skew
  /// counts as the current time, and ``MergeReport/correctedServerTime`` is set.
  /// Such a time of an earlier pull does not hide later rows.
  ///
  /// The method does not import deletions of rows. Delete the record in a save.
  ///
  /// The replica stores each pulled row in another record, too, whose key
  /// contains the entity, the row's key and the name of the server. This leaves
  /// less than 1,024 bytes for the row's key, and the error
  /// ``SaveError/keyTooLong(_:limit:)`` shows how many.
  ///
  /// - Parameters:
  ///   - server: The name of the server, the same on all installations.
  ///   - time: The server's modification time of the rows, in milliseconds
  ///     since 1970.
  ///   - body: A closure that writes the rows. It runs on an empty replica.
  /// - Returns: A report of the changes, conflicts and faults.
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Precondition: `body` writes only registers.
  /// - Complexity: The cost of saving the rows, plus O(*d*) for each field,
  ///   where *d* is the number of devices that wrote it.
  @discardableResult
  public func importRows(
    from server: String, modifiedAt time: Int64, _ body: (Transaction) -> Void
  ) throws(SaveError) -> MergeReport {
    defer { current._checkInvariants() }
    let empty = emptyReplica()
    let rows = try rows(writtenBy: body, on: empty)
    for row in rows {
      let memory = RecordID(pulling: row.key, from: server).key.utf8.count
      if memory > Limits.keyBytes {
        let limit = Limits.keyBytes - (memory - row.key.key.utf8.count)
        if limit < 1 { throw .serverNameTooLong(server) }
        throw .keyTooLong(row.key, limit: limit)
      }
    }
    let device = try pullDevice(for: server)
    let last = current.version[device]
    guard last.sequence < .max else { throw .numbersExhausted(device) }
    let (now, stamp) = (wallClock.now, Timestamp(milliseconds: time))
    let bound = current.hybrid.bound(now)
    let isAhead = stamp > bound
    var pull = Pull(
      server: server, dot: Dot(device, last.sequence + 1),
      time: isAhead ? Timestamp(milliseconds: now) : stamp,
      isCorrected: isAhead, notAfter: bound, digest: Digest(seed: last.digest))
    pull.digest.add(pull.dot.sequence)
    pull.digest.add(pull.time.rawValue)
    for row in rows {
      pull.take(
        row.content.edits(named: empty.current.names), of: row.key,
        from: current)
    }
    var report = MergeReport()
    if isAhead { report.correctedServerTime = time }
    if pull.changes.isEmpty { return report }
    // A delta with a later save of an own device reveals a rollback. Therefore,
    // the pull device is not an own device while its delta is applied.
    current.identity.setPullDevice(nil, for: SchemaName(server))
    defer { current.identity.setPullDevice(device, for: SchemaName(server)) }
    report.add(apply(pull.delta(after: last, enrolling: current)))
    return report
  }

  /// Returns the device that pulls from a server, or a new one before the first
  /// pull.
  private func pullDevice(for server: String) throws(SaveError) -> DeviceID {
    // A clone also has the pull devices, and would use their numbers.
    if current.needsNewDeviceID {
      let (device, pullDevice) = (try unusedDevice(), try unusedDevice())
      guard pullDevice != device else { throw .identityInUse(device) }
      takeDevice(device, of: current.identity.durableToken)
      return pullDevice
    }
    if let device = current.identity.pullDevices[SchemaName(server)] {
      return device
    }
    return try unusedDevice()
  }
}

extension Transaction {
  /// Drops the stored pulls of each record that this save creates again.
  ///
  /// The next pull of the row then writes every field. Like the re-creation
  /// itself, this drops only content that the author has seen.
  func forgetPulls() {
    if replica.current.positions[BuiltIn.pulled] == nil { return }
    let created = pending.entries.filter {
      $0.content.drops && $0.content.mark == .alive
    }
    if created.isEmpty { return }
    replica.current.sortRecords(of: BuiltIn.pulled)
    for record in created {
      for memory in replica.current.memories(ofPulling: record.key) {
        change(memory) { $0.drop(asIn: record.content) }
      }
    }
  }
}

extension FieldSlot {
  /// Whether the slot contains a pulled value.
  fileprivate var isPulledField: Bool { name != 0 && state.hasContent }
}

extension ReplicaState {
  /// Returns the records that store a row as pulled from servers.
  ///
  /// - Precondition: The records of ``BuiltIn/pulled`` are sorted.
  fileprivate func memories(ofPulling id: RecordID) -> [RecordID] {
    let start = id.pulledKey
    var memories: [RecordID] = []
    positions[BuiltIn.pulled]?.forEach(after: start, records) { position in
      let memory = records[position].id
      guard memory.key.utf8.starts(with: start.utf8) else { return false }
      if records[position].slots.contains(where: \.isPulledField) {
        memories.append(memory)
      }
      return true
    }
    return memories
  }
}

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
      batch.add(row.content, of: row.key, empty.current.names)
    }
    let dot = Dot(DeviceID(high: DeviceID.importPrefix, low: batch.value), 1)
    // An empty replica has no writes to supersede.
    var ignored = SaveReport()
    for row in records {
      empty.current.commit(
        row.content, of: row.key, at: dot, time: .zero, into: &batch, &ignored)
    }
    empty.current.version.insert(
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
      try empty.current.checkSize(
        of: row.content, of: row.key, at: Dot(empty.device, 1), time: .zero)
    }
    return rows
  }
}

extension DeviceID {
  /// `import` in ASCII, the first half of the device IDs of imports.
  fileprivate static let importPrefix: UInt64 = 0x696d_706f_7274_0000

  /// Whether the device stands for an import with ``Replica/importRows(_:)``.
  ///
  /// The ID is a digest of the imported rows, so it is the same on every device
  /// that imports them. No replica has such an ID.
  public var isImport: Bool { high == DeviceID.importPrefix }
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
