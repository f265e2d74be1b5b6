// SPDX-License-Identifier: Apache-2.0

// The roster: the devices that stability awaits.
extension Replica {
  /// Puts a device on the roster: a save becomes stable only when this device
  /// has acknowledged it, too.
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
  /// It means nothing else. Unseen saves of the device are joined like any
  /// others when they arrive; the device is then back on the roster and listed
  /// in ``MergeReport/returned``. One thing can be lost: an update that is
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
    var roster = Set(stored.version.vector.entries.map(\.device))
    for (device, record) in stored.devices(in: BuiltIn.roster) {
      // A puller has no replica of its own that could acknowledge anything.
      if stored.write(of: BuiltIn.server, in: record) == nil {
        roster.insert(device)
      } else {
        roster.remove(device)
      }
    }
    // Devices of which only parts of deltas have arrived have saved, too.
    roster.formUnion(stored.missingSaves.entries.map(\.device))
    roster.subtract(retired.keys)
    return roster.filter { !$0.isImport }
  }

  /// The retired devices, each with the last save that was known when it was
  /// retired.
  public var retirements: VectorClock { VectorClock(greatest: retired) }

  /// The same, with the devices that had never saved.
  private var retired: [DeviceID: UInt64] {
    var retired: [DeviceID: UInt64] = [:]
    for (device, _) in stored.devices(in: BuiltIn.retirement) {
      guard let last = stored.retiredNumber(of: device),
        // A later save puts the device back, without a save of ours.
        stored.version[device].sequence <= last
      else { continue }
      retired[device] = last
    }
    return retired
  }
}

extension Transaction {
  /// Retires a device at its greatest number known here.
  ///
  /// Saves beyond the version count: they are known, so their arrival in full
  /// is no return. So do earlier retirements, which others may have made at a
  /// number that is not known here.
  func retire(_ device: DeviceID) {
    let known = max(
      replica.stored.version[device].sequence,
      replica.stored.index.last(of: device),
      replica.stored.retiredNumber(of: device) ?? 0)
    // A value is a signed integer: the bits keep numbers above `Int64.max`.
    apply(
      .write(.int(Int64(bitPattern: known))), to: BuiltIn.last,
      of: RecordID(BuiltIn.retirement, device.hexadecimal))
  }
}

extension StoredReplica {
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
      guard case .int(let number) = write.payload.value else { return last }
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
