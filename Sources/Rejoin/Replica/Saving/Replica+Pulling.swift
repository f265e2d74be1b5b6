// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Brings in rows of a server that knows no CRDT, as often as they are pulled.
  ///
  ///     try phone.pull(from: "crm", modifiedAt: row.modified) { transaction in
  ///       transaction[Customer.self, row.key].name = row.name
  ///     }
  ///
  /// What is new in the rows becomes a save of a device that this installation has
  /// for the server, stamped with the server's time. A field is new if it differs
  /// from the latest pull known here, whoever made it, and the server's time is
  /// later. The save has seen the earlier pulls of that server and nothing else,
  /// so that it never overwrites an edit that is yet to be sent: where both sides
  /// changed a register, both writes are shown as a conflict. Two installations
  /// that pull the same rows write the same values.
  ///
  /// The deletion of a row is not pulled: delete the record in a save.
  ///
  /// - Parameters:
  ///   - server: The name of the server, the same on all installations.
  ///   - time: When the server says that the rows were modified, in milliseconds
  ///     since 1970.
  ///   - body: Writes the rows. What the replica holds plays no part.
  /// - Returns: What pulling changed.
  /// - Throws: ``SaveError``; the replica is then unchanged.
  /// - Precondition: Only registers are written, of either kind.
  /// - Complexity: That of the rows, and O(*d*) for the *d* devices on the roster.
  @discardableResult
  public func pull(
    from server: String, modifiedAt time: Int64, _ body: (Transaction) -> Void
  ) throws(SaveError) -> MergeReport {
    let rows = try rows(writtenBy: body, on: blank())
    let puller = try puller(for: server)
    let last = stored.version[puller]
    guard last.sequence < .max else { throw .numbersExhausted(puller) }
    var pull = Pull(
      server: server, devices: stored.pullers(of: server).union([puller]),
      dot: Dot(puller, last.sequence + 1),
      time: Timestamp(milliseconds: time), digest: Digest(seed: last.digest))
    pull.digest.add(pull.dot.sequence)
    pull.digest.add(pull.time.rawValue)
    for (id, row) in rows { pull.take(row, of: id, from: stored) }
    if pull.changes.isEmpty { return MergeReport() }
    // Nobody else saves as the puller, so that its own save would be taken for one
    // of another incarnation.
    stored.pullers[Name(server)] = nil
    defer { stored.pullers[Name(server)] = puller }
    return apply(pull.delta(after: last, enrolling: stored))
  }

  private func puller(for server: String) throws(SaveError) -> DeviceID {
    if stored.needsNewDeviceID {
      let (device, puller) = (try unusedDevice(), try unusedDevice())
      guard puller != device else { throw .identityInUse(puller) }
      takeDevice(device)
      return puller
    }
    if let device = stored.pullers[Name(server)] { return device }
    return try unusedDevice()
  }
}

extension StoredReplica {
  /// The devices that are known to stand for a server.
  fileprivate func pullers(of server: String) -> Set<DeviceID> {
    Set(
      devices(in: BuiltIn.roster).filter {
        write(of: BuiltIn.server, in: $0.record) == .string(server)
      }.map(\.device))
  }
}

/// The save that a pull makes.
private struct Pull {
  let server: String
  /// The devices whose saves are earlier pulls of the server.
  let devices: Set<DeviceID>
  let dot: Dot
  let time: Timestamp
  var digest: Digest
  private(set) var changes: [RecordID: [FieldKey: FieldState]] = [:]

  init(
    server: String, devices: Set<DeviceID>, dot: Dot, time: Timestamp,
    digest: Digest
  ) {
    (self.server, self.devices, self.dot) = (server, devices, dot)
    (self.time, self.digest) = (time, digest)
  }

  /// What is remembered of a row: the fields as they were last pulled.
  private func memory(of id: RecordID) -> RecordID {
    RecordID(
      BuiltIn.pulled,
      "\(server.utf8.count):\(server)\(id.entity.utf8.count):\(id)")
  }

  /// Takes what is new in a row.
  mutating func take(
    _ row: PendingRecord, of id: RecordID, from stored: StoredReplica
  ) {
    let memory = memory(of: id)
    var isNew = stored.positions[memory] == nil
    for (key, edit) in row.edits.sorted(by: { $0.key < $1.key }) {
      guard case .write(let value) = edit else {
        preconditionFailure("\(key.name) of \(id): only registers are pulled")
      }
      let earlier = FieldKey(key.name, .register)
      let last = stored.state(of: earlier, in: memory)?.write?.payload
      if let last, last.value == value || time <= last.time { continue }
      write(value, to: earlier, of: memory, from: stored)
      write(value, to: key, of: id, from: stored)
      isNew = true
    }
    guard isNew else { return }
    write(.bool(true), to: .existence, of: memory, from: stored)
    write(.bool(true), to: .existence, of: id, from: stored)
  }

  private mutating func write(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    from stored: StoredReplica
  ) {
    var state =
      stored.state(of: key, in: id)?.restricted(to: devices)
      ?? FieldState(key.kind)
    _ = state.change(.write(value), in: EditContext(dot: dot, time: time))
    changes[id, default: [:]][key] = state
    digest.add(id.entity)
    digest.add(id.key)
    digest.add(key)
    digest.add(value)
  }

  /// The save as a delta; a device's first one enrolls it as the server's.
  mutating func delta(
    after last: DeviceSave, enrolling stored: StoredReplica
  ) -> Delta {
    if last.sequence == 0 {
      let id = RecordID(BuiltIn.roster, dot.device.hexadecimal)
      write(.string(server), to: BuiltIn.server, of: id, from: stored)
      write(.bool(true), to: .existence, of: id, from: stored)
    }
    let save = DeviceSave(
      sequence: dot.sequence, time: time, digest: digest.value)
    return Delta(
      changes: changes.map { .init(id: $0.key, fields: $0.value) },
      intervals: [dot.device: .init(from: last.sequence, to: save)])
  }
}

extension FieldState {
  /// The part of a register that some devices wrote.
  fileprivate func restricted(to devices: Set<DeviceID>) -> FieldState {
    let context = CausalContext(
      VectorClock(
        sorted: clock.entries.filter { devices.contains($0.device) }))
    switch self {
    case .register(let field):
      let kept = field.store.filter { devices.contains($0.dot.device) }
      return .register(
        Causal(store: Siblings(sorted: kept), context: context))
    case .lww(let field):
      let kept = field.store.write.flatMap {
        devices.contains($0.dot.device) ? $0 : nil
      }
      return .lww(Causal(store: Latest(kept), context: context))
    default: preconditionFailure("only registers are pulled")
    }
  }
}
