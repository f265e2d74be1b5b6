// SPDX-License-Identifier: Apache-2.0

// The devices that are waited for before anything is stable.
extension Replica {
  /// Puts a device on the roster: nothing is stable before it has shown that it
  /// holds it.
  ///
  /// A device that has saved is on the roster anyway. Enroll those that have not.
  ///
  /// - Throws: ``SaveError``; the replica is then unchanged.
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

  /// Retires a device: nothing waits for it any more.
  ///
  /// That is all it means. What the device has saved unheard is joined like any
  /// other save when it arrives; the device is then on the roster again, and
  /// ``MergeReport/returned`` tells. What that can cost: an update that was
  /// concurrent with a purged deletion brings back the record with only what the
  /// update wrote.
  ///
  /// - Throws: ``SaveError``; the replica is then unchanged.
  @discardableResult
  public func retire(_ device: DeviceID) throws(SaveError) -> SaveReport {
    try save { $0.retire(device) }
  }

  /// The devices that are waited for: those that have saved or were enrolled, but
  /// for those that are retired, and those that stand for an import or a server.
  ///
  /// - Complexity: O(*r*) for *r* devices.
  public var roster: Set<DeviceID> {
    var roster = Set(stored.version.vector.entries.map(\.device))
    for (device, record) in stored.devices(in: BuiltIn.roster) {
      if stored.write(of: BuiltIn.server, in: record) == nil {
        roster.insert(device)
      } else {
        roster.remove(device)
      }
    }
    // Also those of which only parts of messages have arrived.
    roster.formUnion(stored.missingSaves.entries.map(\.device))
    roster.subtract(retired.keys)
    return roster.filter { !$0.isImport }
  }

  /// The devices that are retired, with the last save of each that was known when
  /// it was retired.
  public var retirements: VectorClock { VectorClock(greatest: retired) }

  /// The devices that are retired, also those that had never saved.
  private var retired: [DeviceID: UInt64] {
    var retired: [DeviceID: UInt64] = [:]
    for (device, _) in stored.devices(in: BuiltIn.retirement) {
      guard let last = retiredNumber(of: device),
        stored.version[device].sequence <= last
      else { continue }
      retired[device] = last
    }
    return retired
  }

  /// The last save of a device that anybody knew who retired it.
  func retiredNumber(of device: DeviceID) -> UInt64? {
    let id = RecordID(BuiltIn.retirement, device.hexadecimal)
    guard let state = stored.state(of: BuiltIn.last, in: id) else { return nil }
    return state.writes.reduce(nil) { last, write in
      guard case .int(let number) = write.payload.value else { return last }
      return max(last ?? 0, UInt64(bitPattern: number))
    }
  }
}

extension Transaction {
  /// Retires a device, at the greatest number of it that anybody here knows of.
  func retire(_ device: DeviceID) {
    let known = max(
      replica.stored.version[device].sequence,
      replica.stored.index.last(of: device),
      replica.retiredNumber(of: device) ?? 0)
    apply(
      .write(.int(Int64(bitPattern: known))), to: BuiltIn.last,
      of: RecordID(BuiltIn.retirement, device.hexadecimal))
  }
}

extension StoredReplica {
  /// The devices that the records of a built-in entity are about.
  func devices(
    in entity: String
  ) -> [(device: DeviceID, record: RecordState)] {
    (byEntity[Name(entity)] ?? []).compactMap { position in
      let record = records[position]
      return DeviceID(hexadecimal: record.id.key).map { ($0, record) }
    }
  }

  /// The value that a register of a record shows.
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
