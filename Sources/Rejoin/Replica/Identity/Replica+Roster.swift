// SPDX-License-Identifier: Apache-2.0

// The roster: the devices that stability awaits.
extension Replica {
  /// Puts a device on the roster: a save becomes stable only when this device
  /// is known to hold it, too.
  ///
  /// Every device that has saved is on the roster. Enroll those that have not.
  ///
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
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

  /// Retires a device: stability no longer awaits it.
  ///
  /// A device can retire itself, for example before its app is deleted. A later
  /// save puts it back on the roster.
  ///
  /// Retiring means nothing else. Unseen saves of the device are joined like any
  /// others when they arrive; the device is then back on the roster and listed
  /// in ``MergeReport/reactivatedDevices``. One thing can be lost: an update that is
  /// concurrent with a purged deletion restores the record with only the fields
  /// that the update wrote.
  ///
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  @discardableResult
  public func retire(_ device: DeviceID) throws(SaveError) -> SaveReport {
    try save { $0.retire(device) }
  }

  /// The devices that stability awaits: those that have saved or were enrolled,
  /// except retired ones and those that stand for an import or a server.
  ///
  /// - Complexity: O(*r*) for *r* devices.
  public var roster: Set<DeviceID> {
    var devices = Set(stored.version.vectorClock.entries.map(\.device))
    // Devices of which only parts of deltas have arrived have saved, too.
    devices.formUnion(stored.index.devices)
    devices.formUnion(stored.devices(in: BuiltIn.roster).map(\.device))
    return devices.filter(isOnRoster)
  }

  /// Whether stability awaits a device, because it saved or was enrolled.
  func isOnRoster(_ device: DeviceID) -> Bool {
    // The device of an import or a server has no replica of its own that could
    // show a version.
    if device.isImport { return false }
    let id = RecordID(BuiltIn.roster, device.hexadecimal)
    if stored.state(of: BuiltIn.server, in: id)?.value != nil { return false }
    return stored.retiredNumber(of: device)
      .map { stored.version[device].sequence > $0 } ?? true
  }

  /// The retired devices, each with the last save that was known when it was
  /// retired.
  public var retirements: VectorClock {
    var retired: [DeviceID: UInt64] = [:]
    for (device, _) in stored.devices(in: BuiltIn.retirement)
    where !isOnRoster(device) {
      retired[device] = stored.retiredNumber(of: device)
    }
    return VectorClock(greatest: retired)
  }
}

extension Transaction {
  /// Retires a device at its greatest number known here.
  ///
  /// Saves beyond the version count: they are known, so their arrival in full
  /// is no return. So do earlier retirements, which others may have made at a
  /// number that is not known here. If the device retires itself, this save
  /// counts as well.
  func retire(_ device: DeviceID) {
    let stored = replica.stored
    let last = stored.lastKnownSave(of: device)
    let isAuthor = device == stored.device && !stored.needsNewDeviceID
    // Without a next number, the save is refused.
    let saved = isAuthor && last < .max ? last + 1 : last
    let known = max(saved, stored.retiredNumber(of: device) ?? 0)
    // A value is a signed integer: the bits keep numbers above `Int64.max`.
    apply(
      .write(.int(Int64(bitPattern: known))), to: BuiltIn.last,
      of: RecordID(BuiltIn.retirement, device.hexadecimal))
  }
}

extension ReplicaState {
  /// The devices that the records of a built-in entity describe.
  func devices(
    in entity: String
  ) -> [(device: DeviceID, record: RecordState)] {
    (positions[entity]?.order ?? []).compactMap { position in
      let record = records[Int(position)]
      return DeviceID(hexadecimal: record.id.key).map { ($0, record) }
    }
  }

  /// The greatest number of a device that was known to any replica that retired
  /// it; `nil` if none did.
  func retiredNumber(of device: DeviceID) -> UInt64? {
    // Nearly always there is none, and no ID need be made.
    if positions[BuiltIn.retirement] == nil { return nil }
    let id = RecordID(BuiltIn.retirement, device.hexadecimal)
    guard let state = state(of: BuiltIn.last, in: id) else { return nil }
    return state.writes.reduce(nil) { last, write in
      guard case .int(let number) = write.value else { return last }
      return max(last ?? 0, UInt64(bitPattern: number))
    }
  }

  /// The value that a record's register shows.
  func write(of key: FieldKey, in record: RecordState) -> Value? {
    names.number(of: key).flatMap { record[$0] }?.value
  }

  /// A field of a record, if any save has touched it.
  func state(of key: FieldKey, in id: RecordID) -> FieldState? {
    guard let position = positions[id], let number = names.number(of: key)
    else { return nil }
    return records[position][number]
  }
}
