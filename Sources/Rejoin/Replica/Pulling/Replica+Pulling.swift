// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Imports rows of a server that is not a replica, as often as they are
  /// pulled.
  ///
  ///     try phone.importRows(from: "crm", modifiedAt: row.modified) { transaction in
  ///       transaction[Customer.self, row.key].name = row.name
  ///     }
  ///
  /// The changed fields become one save of a *pull device*, a device of this
  /// installation that stands for the server, with the server's time. A field
  /// has changed if its value differs from the latest pull known here,
  /// whichever installation made it, and the server's time is later. If the
  /// record was deleted and created again since the latest pull, every field of
  /// the row has changed.
  ///
  /// The save has observed the earlier pulls of that server and nothing else,
  /// so it never supersedes a local edit. If a register was changed on both
  /// sides, the writes are concurrent and show as a conflict. Two installations
  /// that pull the same rows write the same values, which is no conflict.
  ///
  /// Deletions of rows are not pulled: delete the record in a save.
  ///
  /// - Parameters:
  ///   - server: The name of the server, the same on all installations.
  ///   - time: The server's modification time of the rows, in milliseconds
  ///     since 1970.
  ///   - body: Writes the rows. It runs on an empty replica.
  /// - Returns: What changed.
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  /// - Precondition: `body` writes only registers.
  /// - Complexity: That of saving the rows, and O(*d*) for each field, where *d*
  ///   is the number of devices that wrote it.
  @discardableResult
  public func importRows(
    from server: String, modifiedAt time: Int64, _ body: (Transaction) -> Void
  ) throws(SaveError) -> MergeReport {
    defer { stored._checkInvariants() }
    let empty = emptyReplica()
    let rows = try rows(writtenBy: body, on: empty)
    let device = try pullDevice(for: server)
    let last = stored.version[device]
    guard last.sequence < .max else { throw .numbersExhausted(device) }
    var pull = Pull(
      server: server, dot: Dot(device, last.sequence + 1),
      time: Timestamp(milliseconds: time), digest: Digest(seed: last.digest))
    pull.digest.add(pull.dot.sequence)
    pull.digest.add(pull.time.rawValue)
    for row in rows {
      pull.take(
        row.content.edits(named: empty.stored.names), of: row.key, from: stored)
    }
    if pull.changes.isEmpty { return MergeReport() }
    // A delta with a save of an own device means that another incarnation made
    // it. The pull device is therefore not ours while its delta is applied.
    stored.identity.setPullDevice(nil, for: SchemaName(server))
    defer { stored.identity.setPullDevice(device, for: SchemaName(server)) }
    return apply(pull.delta(after: last, enrolling: stored))
  }

  /// The device that pulls from a server; a new one before the first pull.
  private func pullDevice(for server: String) throws(SaveError) -> DeviceID {
    // A clone has the pull devices, too, and would use their numbers.
    if stored.needsNewDeviceID {
      let (device, pullDevice) = (try unusedDevice(), try unusedDevice())
      guard pullDevice != device else { throw .identityInUse(device) }
      takeDevice(device, of: stored.identity.durableToken)
      return pullDevice
    }
    if let device = stored.identity.pullDevices[SchemaName(server)] {
      return device
    }
    return try unusedDevice()
  }
}

extension Transaction {
  /// Drops what is remembered of the pulls of each record that this save creates
  /// again, so the next pull of its row writes every field.
  ///
  /// Like the re-creation itself, this drops only what the author has seen.
  func forgetPulls() {
    if replica.stored.positions[BuiltIn.pulled] == nil { return }
    let created = pending.entries.filter {
      $0.content.drops && $0.content.mark == true
    }
    if created.isEmpty { return }
    replica.stored.sortRecords(of: BuiltIn.pulled)
    for record in created {
      for memory in replica.stored.memories(ofPulling: record.key) {
        change(memory) { $0.drop(asIn: record.content) }
      }
    }
  }
}

extension FieldSlot {
  /// Whether the slot of a row's memory holds a pulled value.
  fileprivate var isPulledField: Bool { name != 0 && state.hasContent }
}

extension ReplicaState {
  /// The records that hold values of a row as servers had them.
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
