// SPDX-License-Identifier: Apache-2.0

// What has changed, for a store that writes it.
extension Replica {
  /// Begins to note which records change.
  package func markRecordsChanged() { stored.changedRecords = [] }

  /// Records changed records again after ``takeChangedRecords()``.
  package func markChanged(_ positions: [Int]) {
    stored.changedRecords?.formUnion(positions.map { UInt32($0) })
  }

  /// Notes every record as changed.
  package func markAllRecordsChanged() {
    stored.changedRecords = Set(0..<UInt32(stored.records.count))
  }

  /// Whether a record has changed since they were handed out last.
  package var hasChangedRecords: Bool {
    stored.changedRecords?.isEmpty == false
  }

  /// Hands out the positions of the records that have changed since the last
  /// time, in order.
  package func takeChangedRecords() -> [Int] {
    let changed = (stored.changedRecords ?? []).map { Int($0) }.sorted()
    stored.changedRecords?.removeAll(keepingCapacity: true)
    return changed
  }

  /// Notes that a store has written a record, see
  /// ``ReplicaState/recordWritten(_:)``.
  package func recordWritten(_ position: Int, isPatched: Bool = true) {
    stored.recordWritten(position, isPatched: isPatched)
  }

  /// Returns the saves that a version lacks, without the fields whose unseen
  /// saves are all ahead of this replica's version.
  package func deltaOfIntervals(since basis: ReplicaVersion) -> Delta? {
    stored.delta(of: stored.missingChanges(since: basis), withAhead: false)
  }

  /// Returns a part of what a version lacks, likewise.
  ///
  /// - Parameter end: The last of the records that are here, if there are others
  ///   elsewhere.
  package func delta(
    of missing: MissingChanges, byteLimit: Int, readThrough end: RecordID?
  ) -> Delta? {
    stored.delta(
      of: missing, byteLimit: byteLimit, withAhead: false, readThrough: end)
  }

  /// Takes the replica back to what a store has of it.
  ///
  /// - Parameter former: The replica before the change.
  package func revert(
    to stored: ReplicaState, _ former: FormerReplica? = nil
  ) {
    if let former { deviceChange = former.deviceChange }
    let fragmentSize = fragmentSize
    self.stored = stored
    self.fragmentSize = fragmentSize
    self.stored._checkInvariants()
  }
}

// What has changed, for observers.
extension Replica {
  /// A record before and after a change; `nil` if no save had touched it.
  package typealias Difference = (old: Record?, new: Record?)

  /// Begins to note which records change.
  ///
  /// - Parameter withStates: Whether to keep them as they are before, too.
  package func keepFormerRecords(withStates: Bool = true) {
    stored.formerRecords = FormerRecords(keepsStates: withStates)
  }

  /// Hands out the records that have changed since ``keepFormerRecords()``, and
  /// stops to keep any.
  ///
  /// References are filtered by the records that exist now, in the old states,
  /// too.
  package func takeDifferences() -> [RecordID: Difference] {
    let former = stored.formerRecords?.states ?? [:]
    stored.formerRecords = nil
    var differences: [RecordID: Difference] = [:]
    for (position, old) in former {
      let new = stored.records[Int(position)]
      if BuiltIn.isBuiltIn(new.id.entity) { continue }
      let wasTouched = old.map { !$0.slots.isEmpty } ?? false
      differences[new.id] = (
        wasTouched ? old.map(record) : nil, record(new)
      )
    }
    return differences
  }
}

/// The records that have changed since an observer has asked last.
struct FormerRecords: Sendable {
  /// Whether they are kept as they were before.
  let keepsStates: Bool
  /// By position; `nil` if it is not kept.
  private(set) var states: [UInt32: RecordState?] = [:]

  init(keepsStates: Bool) { self.keepsStates = keepsStates }

  /// Notes that a record is going to change.
  mutating func note(_ position: UInt32, of records: [RecordState]) {
    if states[position] != nil { return }
    states[position] = .some(keepsStates ? records[Int(position)] : nil)
  }
}
