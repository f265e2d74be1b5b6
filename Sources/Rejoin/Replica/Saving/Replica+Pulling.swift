// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Imports rows of a server that is not a replica, as often as they are
  /// pulled.
  ///
  ///     try phone.pull(from: "crm", modifiedAt: row.modified) { transaction in
  ///       transaction[Customer.self, row.key].name = row.name
  ///     }
  ///
  /// The changed fields become one save of a *puller*, a device of this
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
  public func pull(
    from server: String, modifiedAt time: Int64, _ body: (Transaction) -> Void
  ) throws(SaveError) -> MergeReport {
    defer { stored._checkInvariants() }
    let empty = emptyReplica()
    let rows = try rows(writtenBy: body, on: empty)
    let puller = try puller(for: server)
    let last = stored.version[puller]
    guard last.sequence < .max else { throw .numbersExhausted(puller) }
    var pull = Pull(
      server: server, dot: Dot(puller, last.sequence + 1),
      time: Timestamp(milliseconds: time), digest: Digest(seed: last.digest))
    pull.digest.add(pull.dot.sequence)
    pull.digest.add(pull.time.rawValue)
    for row in rows {
      pull.take(
        row.content.edits(named: empty.stored.names), of: row.key, from: stored)
    }
    if pull.changes.isEmpty { return MergeReport() }
    // A save of a device that is ours, arriving in a delta, means that another
    // incarnation made it; so the puller is not ours while its delta is
    // applied.
    stored.pullers[Name(server)] = nil
    defer { stored.pullers[Name(server)] = puller }
    return apply(pull.delta(after: last, enrolling: stored))
  }

  /// The device that pulls from a server; a new one before the first pull.
  private func puller(for server: String) throws(SaveError) -> DeviceID {
    // A clone has this installation's pullers, too, and would use their
    // numbers.
    if stored.needsNewDeviceID {
      let (device, puller) = (try unusedDevice(), try unusedDevice())
      guard puller != device else { throw .identityInUse(puller) }
      takeDevice(device, of: stored.durableToken)
      return puller
    }
    if let device = stored.pullers[Name(server)] { return device }
    return try unusedDevice()
  }
}

extension RecordID {
  /// The record that remembers a row of a server as it was last pulled.
  ///
  /// The row's own record cannot: local edits change it.
  fileprivate init(pulling id: RecordID, from server: String) {
    self.init(BuiltIn.pulled, id.pulledKey + server)
  }

  /// The beginning of the keys of the records that remember the pulls of a row.
  fileprivate var pulledKey: String {
    // The lengths keep the parts from running together.
    "\(entity.utf8.count):\(key.utf8.count):\(entity)\(key)"
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

extension StoredReplica {
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

  /// Whether a device pulls from a server, for any installation.
  fileprivate func isPuller(_ device: DeviceID, of server: String) -> Bool {
    let id = RecordID(BuiltIn.roster, device.hexadecimal)
    return state(of: BuiltIn.server, in: id)?.value == .string(server)
  }
}

/// The save of one pull, in the making.
private struct Pull {
  let server: String
  let dot: Dot
  let time: Timestamp
  /// The digest of the save so far; it depends on the order of the writes.
  var digest: Digest
  /// The changed fields, each in the state after this save, as far as the
  /// pullers have written it.
  private(set) var changes: [RecordID: [FieldKey: FieldState]] = [:]
  /// Whether a device is a puller of the server, whose saves this one has
  /// observed.
  private var isPuller: [DeviceID: Bool]

  init(server: String, dot: Dot, time: Timestamp, digest: Digest) {
    (self.server, self.dot) = (server, dot)
    (self.time, self.digest) = (time, digest)
    isPuller = [dot.device: true]
  }

  /// Adds the fields of a row that changed on the server.
  mutating func take(
    _ row: [(key: FieldKey, edit: FieldEdit)], of id: RecordID,
    from stored: StoredReplica
  ) {
    let memory = RecordID(pulling: id, from: server)
    // Sorted, so that the digest is the same wherever the rows are pulled.
    for (key, edit) in row {
      guard case .write(let value) = edit else {
        preconditionFailure(
          "a pull cannot write the field \"\(key.name)\" of \(id), which is of "
            + "the kind \(key.kind): write only registers")
      }
      // A time that is not later is that of the same row or an older one, which
      // was pulled here or elsewhere: writing it would conflict with that pull.
      let last = stored.state(of: key, in: memory)?.write
      if let last, last.value == value || time <= last.time { continue }
      write(value, to: key, of: memory, from: stored)
      write(value, to: key, of: id, from: stored)
    }
    guard row.isEmpty, stored.positions[memory] == nil else { return }
    touch(memory)
    touch(id)
  }

  /// Marks a record without fields, unless an earlier pull touched it.
  private mutating func touch(_ id: RecordID) {
    var state = FieldState(.existence)
    state.changeMarks(at: dot) {
      $0.insert(ExistenceMark(covering: nil, at: time), at: dot)
    }
    changes[id] = [.existence: state]
    digest.add(id.entity)
    digest.add(id.key)
  }

  /// Writes a register, superseding only the pullers' writes.
  private mutating func write(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    from stored: StoredReplica
  ) {
    var state =
      stored.state(of: key, in: id).map { part(of: $0, stored) }
      ?? FieldState(key.kind)
    _ = state.apply(EditContext(edit: .write(value), dot: dot, time: time))
    changes[id, default: [:]][key] = state
    digest.add(id.entity)
    digest.add(id.key)
    digest.add(key)
    digest.add(value)
  }

  /// The part of a register that the pullers wrote and have seen.
  private mutating func part(
    of state: FieldState, _ stored: StoredReplica
  ) -> FieldState {
    let entries = state.clock.entries.filter { entry in
      let isPuller =
        isPuller[entry.device] ?? stored.isPuller(entry.device, of: server)
      self.isPuller[entry.device] = isPuller
      return isPuller
    }
    let writes =
      state.store(of: Siblings<Stamped>.self)?
      .filter { isPuller[$0.dot.device] == true } ?? []
    return FieldState(
      Causal(
        store: Siblings(sorted: writes),
        context: CausalContext(VectorClock(sorted: entries))))
  }

  /// The save as a delta.
  ///
  /// The first save of a puller also enrolls it for the server.
  mutating func delta(
    after last: DeviceSave, enrolling stored: StoredReplica
  ) -> Delta {
    if last.sequence == 0 {
      let id = RecordID(BuiltIn.roster, dot.device.hexadecimal)
      write(.string(server), to: BuiltIn.server, of: id, from: stored)
    }
    let save = DeviceSave(
      sequence: dot.sequence, time: time, digest: digest.value)
    return Delta(
      changes: changes.map { .init(id: $0.key, fields: $0.value) },
      intervals: [dot.device: .init(from: last.sequence, to: save)])
  }
}
