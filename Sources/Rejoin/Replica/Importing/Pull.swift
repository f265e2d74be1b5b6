// SPDX-License-Identifier: Apache-2.0

/// The pending save of one pull.
struct Pull {
  let server: String
  let dot: Dot
  let time: Timestamp
  /// Whether the current time replaced the server's.
  ///
  /// Rows with such a time are later than all that arrived before.
  private let isCorrected: Bool
  /// The latest possible time.
  ///
  /// A device with a wrong clock stores later times.
  private let bound: Timestamp
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

  init(
    server: String, dot: Dot, time: Timestamp, isCorrected: Bool,
    notAfter bound: Timestamp, digest: Digest
  ) {
    (self.server, self.dot, self.digest) = (server, dot, digest)
    (self.time, self.isCorrected, self.bound) = (time, isCorrected, bound)
    isPullDevice = [dot.device: true]
  }

  /// Adds the fields of a row that changed on the server.
  mutating func take(
    _ row: [(key: FieldKey, edit: FieldEdit)], of id: RecordID,
    from state: ReplicaState
  ) {
    let memory = RecordID(pulling: id, from: server)
    let fields = row.map { (key, edit) in
      field(key, value(of: edit, to: key, in: id), in: memory, state)
    }
    // A purge drops the whole record, so a row that comes back must write all
    // of it.
    let isWhole =
      state.hasFinalDeletions(id) && fields.contains(where: \.isNew)
    // The row is sorted, so every installation computes the same digest.
    for (key, value, isNew) in fields where isNew || isWhole {
      if isNew { write(value, to: key, of: memory, from: state) }
      write(value, to: key, of: id, from: state)
    }
    guard row.isEmpty, state.positions[memory] == nil else { return }
    touch(memory)
    touch(id)
  }

  /// Returns the value that an edit writes to a register.
  private func value(
    of edit: FieldEdit, to key: FieldKey, in id: RecordID
  ) -> Value? {
    guard case .write(let value) = edit else {
      stop(
        "a pull cannot write the field \"\(key.name)\" of \(id), which is of "
          + "the kind \(key.kind): write only registers")
    }
    return value
  }

  /// Returns the latest value of a field on the server, and whether this pull
  /// is the first to show it.
  ///
  /// If the time is not later than that of the latest known pull, that pull on
  /// this or another installation already wrote this row or a newer one.
  /// Another write would conflict with it.
  private func field(
    _ key: FieldKey, _ value: Value?, in memory: RecordID,
    _ state: ReplicaState
  ) -> (key: FieldKey, value: Value?, isNew: Bool) {
    guard let last = state.state(of: key, in: memory)?.write else {
      return (key, value, true)
    }
    // The clock of the device may stand still.
    let isLater =
      isCorrected ? time >= last.time : time > last.time
    let isNew = last.value != value && (isLater || last.time > bound)
    return (key, isNew ? value : last.value, isNew)
  }

  /// Marks a record without fields as existing.
  private mutating func touch(_ id: RecordID) {
    var state = FieldState(.existence)
    state.changeMarks(at: dot) {
      $0.insert(.alive(at: time), at: dot)
    }
    changes[id] = [.existence: state]
    digest.add(id.entity)
    digest.add(id.key)
  }

  /// Writes a register and supersedes only the writes of pull devices.
  private mutating func write(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    from replica: ReplicaState
  ) {
    var state =
      replica.state(of: key, in: id).map { part(of: $0, replica) }
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
    of state: FieldState, _ replica: ReplicaState
  ) -> FieldState {
    let entries = state.clock.entries.filter { entry in
      let isPullDevice =
        isPullDevice[entry.device]
        ?? replica.isPullDevice(entry.device, of: server)
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
    after last: DeviceSave, enrolling state: ReplicaState
  ) -> Delta {
    if last.sequence == 0 {
      let id = RecordID(BuiltIn.roster, dot.device.hexadecimal)
      write(.string(server), to: BuiltIn.server, of: id, from: state)
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
  /// Returns whether purges or their announcements name the deletions of a
  /// record.
  fileprivate func hasFinalDeletions(_ id: RecordID) -> Bool {
    positions[id].map { records[$0].hasFinalDeletions } ?? false
  }

  /// Returns whether a device pulls from a server, on any installation.
  fileprivate func isPullDevice(_ device: DeviceID, of server: String) -> Bool {
    let id = RecordID(BuiltIn.roster, device.hexadecimal)
    return state(of: BuiltIn.server, in: id)?.value == .string(server)
  }
}
