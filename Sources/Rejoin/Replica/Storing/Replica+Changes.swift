// SPDX-License-Identifier: Apache-2.0

// The changed records, for a store that writes them.
extension Replica {
  /// Starts to record which records change.
  package func markRecordsChanged() { current.changedRecords = [] }

  /// Marks records as changed again after ``takeChangedRecords()``.
  package func markChanged(_ positions: [Int]) {
    current.changedRecords?.formUnion(positions.map { UInt32($0) })
  }

  /// Marks every record as changed.
  package func markAllRecordsChanged() {
    current.changedRecords = Set(0..<UInt32(current.records.count))
  }

  /// Whether a record changed since ``takeChangedRecords()`` was last called.
  package var hasChangedRecords: Bool {
    current.changedRecords?.isEmpty == false
  }

  /// The positions of the records that changed since ``takeChangedRecords()`` was
  /// last called, in order.
  package var changedRecords: [Int] {
    (current.changedRecords ?? []).map { Int($0) }.sorted()
  }

  /// Returns the positions of the records that changed since the last call, in
  /// order.
  package func takeChangedRecords() -> [Int] {
    let changed = changedRecords
    current.changedRecords?.removeAll(keepingCapacity: true)
    return changed
  }

  /// Returns whether an encoded record may have more bytes than a limit.
  ///
  /// It is faster than encoding the record.
  package func mayExceed(_ limit: Int, at position: Int) -> Bool {
    current.byteBound(ofRecordAt: position, isTight: false) > limit
  }

  /// Records that a store wrote a record.
  ///
  /// See ``ReplicaState/recordWritten(_:)``.
  package func recordWritten(_ position: Int, isPatched: Bool = true) {
    current.recordWritten(position, isPatched: isPatched)
  }

  /// Returns the delta with the missing changes.
  ///
  /// - Parameter byteLimit: The maximum number of bytes of the records of a part,
  ///   or `nil` for all records.
  package func delta(
    of missing: MissingChanges, byteLimit: Int?
  ) -> Delta? {
    byteLimit.map {
      current.delta(of: missing, byteLimit: $0)
    } ?? current.delta(of: missing)
  }

  /// Reverts the replica to the state that a store has.
  ///
  /// - Parameter former: The replica before the change.
  package func revert(
    to state: ReplicaState, _ former: FormerReplica? = nil
  ) {
    if let former { deviceChange = former.deviceChange }
    let fragmentSize = fragmentSize
    current = state
    self.fragmentSize = fragmentSize
    current._checkInvariants()
  }
}
