// SPDX-License-Identifier: Apache-2.0

/// The pending save of one pull.
struct Pull {
  let server: String
  let dot: Dot
  let time: Timestamp
  /// The digest of the save so far.
  ///
  /// It depends on the order of the writes.
  var digest: Digest
  /// The changed fields after this save, each limited to the content of pull
  /// devices.
  private(set) var changes: [RecordID: [FieldKey: FieldState]] = [:]
  /// Whether each device pulls from the server.
  ///
  /// This save observes the saves of the devices that do.
  private var isPullDevice: [DeviceID: Bool]

  init(server: String, dot: Dot, time: Timestamp, digest: Digest) {
    (self.server, self.dot) = (server, dot)
    (self.time, self.digest) = (time, digest)
    isPullDevice = [dot.device: true]
  }

  /// Adds the fields of a row that changed on the server.
  mutating func take(
    _ row: [(key: FieldKey, edit: FieldEdit)], of id: RecordID,
    from stored: ReplicaState
  ) {
    let memory = RecordID(pulling: id, from: server)
    // The row is sorted, so every installation computes the same digest.
    for (key, edit) in row {
      guard case .write(let value) = edit else {
        preconditionFailure(
          "a pull cannot write the field \"\(key.name)\" of \(id), which is of "
            + "the kind \(key.kind): write only registers")
      }
      // If the time is not later, a pull on this or another installation
      // already wrote this row or a newer one. Another write would conflict
      // with that pull.
      let last = stored.state(of: key, in: memory)?.write
      if let last, last.value == value || time <= last.time { continue }
      write(value, to: key, of: memory, from: stored)
      write(value, to: key, of: id, from: stored)
    }
    guard row.isEmpty, stored.positions[memory] == nil else { return }
    touch(memory)
    touch(id)
  }

  /// Marks a record without fields as existing.
  private mutating func touch(_ id: RecordID) {
    var state = FieldState(.existence)
    state.changeMarks(at: dot) {
      $0.insert(ExistenceMark(covering: nil, at: time), at: dot)
    }
    changes[id] = [.existence: state]
    digest.add(id.entity)
    digest.add(id.key)
  }

  /// Writes a register and supersedes only the writes of pull devices.
  private mutating func write(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    from stored: ReplicaState
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

  /// Returns the part of a register that the pull devices wrote and have seen.
  private mutating func part(
    of state: FieldState, _ stored: ReplicaState
  ) -> FieldState {
    let entries = state.clock.entries.filter { entry in
      let isPullDevice =
        isPullDevice[entry.device]
        ?? stored.isPullDevice(entry.device, of: server)
      self.isPullDevice[entry.device] = isPullDevice
      return isPullDevice
    }
    let writes =
      state.store(of: Siblings<Stamped>.self)?
      .filter { isPullDevice[$0.dot.device] == true } ?? []
    return FieldState(
      Causal(
        store: Siblings(sorted: writes),
        context: CausalContext(VectorClock(sorted: entries))))
  }

  /// Returns the save as a delta.
  ///
  /// The first save of a pull device also enrolls it for the server.
  mutating func delta(
    after last: DeviceSave, enrolling stored: ReplicaState
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

extension RecordID {
  /// Creates the ID of the record that stores a server's row as last pulled.
  ///
  /// The row's own record cannot store it, because local edits change that
  /// record.
  init(pulling id: RecordID, from server: String) {
    self.init(BuiltIn.pulled, id.pulledKey + server)
  }

  /// The key prefix of the records that store the pulls of a row.
  var pulledKey: String {
    // The lengths separate the parts.
    "\(entity.utf8.count):\(key.utf8.count):\(entity)\(key)"
  }
}

extension ReplicaState {
  /// Returns whether a device pulls from a server, on any installation.
  fileprivate func isPullDevice(_ device: DeviceID, of server: String) -> Bool {
    let id = RecordID(BuiltIn.roster, device.hexadecimal)
    return state(of: BuiltIn.server, in: id)?.value == .string(server)
  }
}
