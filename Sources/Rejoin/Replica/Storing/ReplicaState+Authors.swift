// SPDX-License-Identifier: Apache-2.0

// The authors of the changes in a message, which a hub checks.
extension ReplicaState {
  /// Returns the devices in whose name records changed.
  ///
  /// A new save names its device by a dot that the field had not seen. All
  /// other changes alter the content of known saves, which a message must not
  /// do. In a counter or a ledger, the content is the additions of each device.
  /// In any field, it is everything that changes without a new save. A mark
  /// whose author had seen later saves of a device than the replica knows
  /// speaks for that device.
  ///
  /// - Parameter before: The state when the recording of changed records
  ///   started.
  /// - Complexity: O(*k*), where *k* is the number of changed records.
  package func authors(since before: ReplicaState) -> Set<DeviceID> {
    var authors: Set<DeviceID> = []
    for record in changedRecords ?? [] {
      let isNew = Int(record) >= before.records.count
      for slot in records[Int(record)].slots {
        let location = FieldPosition(record: record, name: slot.name)
        slot.state.addAuthors(
          since: isNew ? nil : before[location], to: &authors)
        for entry in slot.marks.flatMap(\.payload.clock.entries)
        where entry.count > lastKnownSave(of: entry.device) {
          authors.insert(entry.device)
        }
      }
    }
    return authors
  }
}

extension FieldState {
  fileprivate func addAuthors(
    since before: FieldState?, to authors: inout Set<DeviceID>
  ) {
    let devices = contributors
    guard let before else {
      authors.formUnion(devices)
      return
    }
    let (clock, known) = (clock, before.clock)
    var hasSave = false
    for device in devices {
      if clock[device] > known[device] {
        hasSave = true
        authors.insert(device)
      } else if !adds(sameAs: before, by: device) {
        authors.insert(device)
      }
    }
    // A removal is also a save. Folding does not make a state unequal.
    if !hasSave, self != before { authors.formUnion(devices) }
  }

  /// The devices in the clock and, if a message is forged, the devices that
  /// have additions without a save in the clock.
  private var contributors: Set<DeviceID> {
    Set(clock.entries.map(\.device)).union(read { $0.contributors })
  }
}
