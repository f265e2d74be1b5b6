// SPDX-License-Identifier: Apache-2.0

// Who has made what a message has changed, for a hub that asks whether they may.
extension StoredReplica {
  /// The devices in whose name records have changed.
  ///
  /// A save names its device by a dot beyond what the field had seen. Everything
  /// else is the content of saves that are known, which no message may change: of a
  /// counter and of a ledger, what each device has added; of any field, what changes
  /// without a new save.
  ///
  /// - Parameter before: What was here when it began to note which records change.
  /// - Complexity: O(*k*) for *k* changed records.
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
    // Even a removal is a save. Folding changes nothing here.
    if !hasSave, self != before {
      authors.formUnion(clock.entries.map(\.device))
    }
  }

  /// Whether a device has added as much as in another state.
  private func adds(sameAs other: FieldState, by device: DeviceID) -> Bool {
    switch (self, other) {
    case (.counter(let a), .counter(let b)):
      return a.store.entry(of: device) == b.store.entry(of: device)
    case (.ledger(let a), .ledger(let b)):
      let (mine, theirs) = (a.store.lines[device], b.store.lines[device])
      return mine?.count == theirs?.count && mine?.sum == theirs?.sum
    // What these hold is found by its dots.
    default: return true
    }
  }
}
