// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks every invariant that is stated at a property, and traps if one
    /// fails.
    ///
    /// Every mutation of a replica calls it. It has an effect only in builds
    /// with `-Xswiftc -DREJOIN_CHECK_INVARIANTS`.
    ///
    /// Checking takes time linear in the state, and would make building a large
    /// state quadratic. With *n* > 64 entries in the index, it therefore checks
    /// only after every *n*/64 mutations.
    mutating func _checkInvariants() {
      uncheckedMutations += 1
      guard index.entryCount <= 64 * uncheckedMutations else { return }
      uncheckedMutations = 0
      checkRecords()
      checkFields()
      checkVersion()
      checkIdentity()
    }

    /// Checks that `positions` is the inverse of `records`.
    private func checkRecords() { positions._checkInvariants(records) }

    /// Checks the slots, and the data that is derived from the fields' clocks.
    private func checkFields() {
      for number in 0..<UInt32(names.count) {
        precondition(
          names.number(of: names[number]) == number,
          "the field \(names[number]) does not have its number, \(number)")
      }
      precondition(names[0] == .existence, "existence is not the first field")
      var clocks: [FieldPosition: VectorClock] = [:]
      for (position, record) in records.enumerated() {
        for slot in record.slots {
          let location = FieldPosition(
            record: UInt32(position), name: slot.name)
          clocks[location] = slot.state.clock
          check(slot, of: record.id)
          precondition(
            conflicted.contains(location) == slot.isShared,
            "a register of \(record.id) with siblings is not listed")
        }
      }
      index._checkInvariants(clocks)
      let beyond = clocks.filter { location, clock in
        let id = records[Int(location.record)].id
        var held = version.vectorClock
        for (device, prefix) in version.devicePrefixes
        where id <= prefix.through {
          held.advance(to: Dot(device, prefix.save.sequence))
        }
        return !clock.isContained(in: held)
      }
      precondition(
        ahead == Set(beyond.keys),
        "`ahead` does not list the fields that have seen saves which neither the "
          + "version nor its prefix has")
    }

    private func check(_ slot: FieldSlot, of id: RecordID) {
      precondition(
        Int(slot.name) < names.count,
        "\(id) has a field of number \(slot.name), which has no name")
      let key = names[slot.name]
      precondition(
        slot.state.kind == key.kind,
        "the field \(key) of \(id) holds a state of another kind")
    }

    private func checkVersion() {
      precondition(
        version.stabilityCut.isContained(in: version.vectorClock),
        "the stability cut \(version.stabilityCut) is beyond the version "
          + "\(version)")
      precondition(
        version.fieldsAhead.isEmpty,
        "the stored version lists fields ahead, which belong in `ahead`")
      for (device, prefix) in version.devicePrefixes {
        precondition(
          !version.contains(prefix.save, of: device),
          "a prefix has saves of \(device) that the version has")
      }
      stability._checkInvariants(holding: version.vectorClock)
    }

    private func checkIdentity() {
      identity.ownDigests._checkInvariants()
      precondition(
        identity.durableToken.map { $0.device == device } ?? true,
        "the durable token is of another device than \(device)")
      precondition(
        identity.agrees(with: version, index),
        "the identity of \(device) does not agree with the saves \(version)")
    }
  #else
    func _checkInvariants() {}
  #endif
}
