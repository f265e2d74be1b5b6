// SPDX-License-Identifier: Apache-2.0

// The roster: the devices that stability awaits.
extension Replica {
  /// Adds a device to the roster, so a save becomes stable only when this
  /// device is known to hold it.
  ///
  /// Every device with saves is on the roster. Enroll devices without saves.
  ///
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  @discardableResult
  public func enroll(
    _ device: DeviceID, name: String? = nil
  ) throws(SaveError) -> SaveReport {
    try save { transaction in
      let id = RecordID(BuiltIn.roster, device.hexadecimal)
      transaction.apply(
        .write(BuiltIn.value(of: device)), to: BuiltIn.device, of: id)
      if let name {
        transaction.apply(.write(.string(name)), to: BuiltIn.name, of: id)
      }
    }
  }

  /// Retires a device, so stability no longer awaits it.
  ///
  /// A device can retire itself, for example before its app is deleted. A later
  /// save returns it to the roster.
  ///
  /// Retirement has no other effect. Unseen saves of the device are joined like
  /// any others when they arrive. The device is then back on the roster, and
  /// ``MergeReport/reactivatedDevices`` lists it. One thing can be lost: an
  /// update that is concurrent with a purged deletion restores the record with
  /// only the fields that the update wrote.
  ///
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  @discardableResult
  public func retire(_ device: DeviceID) throws(SaveError) -> SaveReport {
    try save { $0.retire(device) }
  }

  /// The devices that stability awaits: devices with saves and enrolled
  /// devices, except retired ones and those that stand for an import or a
  /// server.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices.
  public var roster: Set<DeviceID> {
    var devices = Set(current.version.vectorClock.entries.map(\.device))
    // Include devices whose saves arrived only in parts of deltas.
    devices.formUnion(current.index.devices)
    devices.formUnion(current.devices(in: BuiltIn.roster).map(\.device))
    return devices.filter(isOnRoster)
  }

  /// Returns whether stability awaits a device that saved or was enrolled.
  func isOnRoster(_ device: DeviceID) -> Bool {
    // The device of an import or a server does not have a replica that could
    // show a version.
    if device.isImport { return false }
    let id = RecordID(BuiltIn.roster, device.hexadecimal)
    if current.state(of: BuiltIn.server, in: id)?.value != nil { return false }
    return current.retiredNumber(of: device)
      .map { current.version[device].sequence > $0 } ?? true
  }

  /// The retired devices, each with its last save that was known at its
  /// retirement.
  public var retirements: VectorClock {
    var retired: [DeviceID: UInt64] = [:]
    for (device, _) in current.devices(in: BuiltIn.retirement)
    where !isOnRoster(device) {
      retired[device] = current.retiredNumber(of: device)
    }
    return VectorClock(greatest: retired)
  }
}

extension Transaction {
  /// Retires a device at its greatest known number.
  ///
  /// Saves beyond the version count: if they arrive in full later, the device
  /// must not return to the roster. Earlier retirements count as well, because
  /// another replica may know a greater number. If the device retires itself,
  /// this save also counts.
  func retire(_ device: DeviceID) {
    let state = replica.current
    let last = state.lastKnownSave(of: device)
    let isAuthor = device == state.device && !state.needsNewDeviceID
    // If no next number exists, the save is refused.
    let saved = isAuthor && last < .max ? last + 1 : last
    let known = max(saved, state.retiredNumber(of: device) ?? 0)
    // A value is a signed integer. Its bits preserve numbers above `Int64.max`.
    apply(
      .write(.int(Int64(bitPattern: known))), to: BuiltIn.last,
      of: RecordID(BuiltIn.retirement, device.hexadecimal))
  }
}

extension ReplicaState {
  /// Returns the devices that the records of a built-in entity describe.
  func devices(
    in entity: String
  ) -> [(device: DeviceID, record: RecordState)] {
    (positions[entity]?.order ?? []).compactMap { position in
      let record = records[Int(position)]
      return DeviceID(hexadecimal: record.id.key).map { ($0, record) }
    }
  }

  /// Returns the greatest number of a device that any replica knew when it
  /// retired the device, or `nil` without a retirement.
  func retiredNumber(of device: DeviceID) -> UInt64? {
    // Most replicas have no retirements, so avoid creating the ID.
    if positions[BuiltIn.retirement] == nil { return nil }
    let id = RecordID(BuiltIn.retirement, device.hexadecimal)
    guard let state = state(of: BuiltIn.last, in: id) else { return nil }
    return state.writes.reduce(nil) { last, write in
      guard case .int(let number) = write.value else { return last }
      return max(last ?? 0, UInt64(bitPattern: number))
    }
  }

  /// Returns the value that a record's register shows.
  func write(of key: FieldKey, in record: RecordState) -> Value? {
    names.number(of: key).flatMap { record[$0] }?.value
  }

  /// Returns the state of a field, or `nil` if no save touched it.
  func state(of key: FieldKey, in id: RecordID) -> FieldState? {
    guard let position = positions[id], let number = names.number(of: key)
    else { return nil }
    return records[position][number]
  }
}
