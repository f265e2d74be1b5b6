// SPDX-License-Identifier: Apache-2.0

// The authors of the changes in a message, which a hub checks.
extension StoredReplica {
  /// Returns the devices in whose name records changed.
  ///
  /// A new save names its device by a dot that the field had not seen. All
  /// other changes alter the content of known saves, which no message may do.
  /// In a counter or a ledger, the content is the additions of each device. In
  /// any field, it is everything that changes without a new save.
  ///
  /// - Parameter before: The state when the recording of changed records
  ///   started.
  /// - Complexity: O(*k*), where *k* is the number of changed records.
  package func authors(since before: StoredReplica) -> Set<DeviceID> {
    var authors: Set<DeviceID> = []
    for record in changedRecords ?? [] {
      let isNew = Int(record) >= before.records.count
      for slot in records[Int(record)].slots {
        let location = FieldLocation(record: record, name: slot.name)
        slot.state.addAuthors(
          since: isNew ? nil : before[location], to: &authors)
      }
    }
    return authors
  }
}

extension FieldState {
  fileprivate func addAuthors(
    since before: FieldState?, to authors: inout Set<DeviceID>
  ) {
    guard let before else {
      authors.formUnion(clock.entries.map(\.device))
      return
    }
    let known = before.clock
    var hasSave = false
    for entry in clock.entries {
      if entry.count > known[entry.device] {
        hasSave = true
        authors.insert(entry.device)
      } else if !adds(sameAs: before, by: entry.device) {
        authors.insert(entry.device)
      }
    }
    // A removal is a save, too. Folding changes nothing here.
    if !hasSave, self != before {
      authors.formUnion(clock.entries.map(\.device))
    }
  }

  /// Returns whether a device has the same additions in another state.
  private func adds(sameAs other: FieldState, by device: DeviceID) -> Bool {
    switch (self, other) {
    case (.counter(let a), .counter(let b)):
      return a.store.entry(of: device) == b.store.entry(of: device)
    case (.ledger(let a), .ledger(let b)):
      let (mine, theirs) = (a.store.lines[device], b.store.lines[device])
      return mine?.count == theirs?.count && mine?.sum == theirs?.sum
    // The dots of these fields identify their content.
    default: return true
    }
  }
}
