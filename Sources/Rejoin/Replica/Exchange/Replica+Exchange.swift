// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Returns the delta that a replica at `basis` lacks.
  ///
  /// It contains every field with a save beyond `basis`, complete with its
  /// clock. For each device, it contains the interval of saves whose effects
  /// are in these fields.
  ///
  /// The delta is complete even if the receiver already has parts of it. To
  /// continue with parts, call ``delta(since:byteLimit:)``.
  ///
  /// - Parameter basis: The receiver's ``version``, or any earlier one.
  /// - Returns: The delta, or `nil` if `basis` contains everything.
  /// - Complexity: O(*k* log *k*), where *k* is the number of changed fields,
  ///   regardless of the size of the replica. A large set, counter or ledger
  ///   adds only its new part. If an element was removed from a set since
  ///   `basis`, the delta contains the whole set, because a removal leaves
  ///   nothing in the set that a part could name. This adds O(*n* log *n*),
  ///   where *n* is the number of its elements.
  public func delta(since basis: ReplicaVersion) -> Delta? {
    missingChanges(since: basis, as: .whole).flatMap { current.delta(of: $0) }
  }

  /// Returns a delta of the first records with changes that `basis` lacks.
  ///
  ///     while let delta = phone.delta(since: tablet.version, byteLimit: 256_000) {
  ///       guard tablet.apply(delta).hasAdvanced else { break }
  ///     }
  ///
  /// The saves of this replica's ``ownDevices`` come first, then those of other
  /// devices, then the records of interrupted transfers to this replica, and
  /// then single fields of incomplete saves.
  ///
  /// A part has at most 2,000 records, in the order of their IDs. The
  /// receiver's next version contains the point where the part ends. You can
  /// interrupt the transfer after any part, and continue it later from this
  /// replica or another one. If possible, request parts from one replica at a
  /// time. Parts of the same saves from two replicas can delay each other, but
  /// do not lose anything.
  ///
  /// - Parameters:
  ///   - basis: The receiver's ``version``, or any earlier one.
  ///   - byteLimit: The maximum number of bytes of the records. Only a single
  ///     record can exceed it. The list of devices comes on top.
  /// - Returns: The delta, or `nil` if `basis` contains everything.
  /// - Complexity: O(*k* + log *n*), where *k* is the number of records from
  ///   the first to the last one in the delta, and *n* is the number of all
  ///   records. If at most 10,000 fields changed, *k* is the number of changed
  ///   records.
  public func delta(
    since basis: ReplicaVersion, byteLimit: Int
  ) -> Delta? {
    missingChanges(since: basis, as: .part).flatMap {
      current.delta(of: $0, byteLimit: byteLimit)
    }
  }

  /// Returns what a replica at `basis` lacks, which is sent next, or `nil` if it
  /// has the same saves.
  private func missingChanges(
    since basis: ReplicaVersion, as form: MissingChanges.Form
  ) -> MissingChanges? {
    hasExported = true
    return current.hasSameSaves(as: basis)
      ? nil : current.missingChanges(since: basis, as: form)
  }

  /// Returns a delta of the whole replica.
  ///
  /// Replicas with the same saves return equal deltas, unless they fold their
  /// ledgers to different depths. To keep a replica between launches, store its
  /// ``state`` instead.
  ///
  /// - Returns: The delta, or `nil` if the replica is empty.
  /// - Complexity: O(*n*), where *n* is the number of fields.
  public func delta() -> Delta? { delta(since: ReplicaVersion()) }

  /// Joins the state of another replica and records its version.
  ///
  /// - Complexity: The cost of the delta that this replica lacks.
  @discardableResult
  public func merge(
    _ other: Replica, reporting detail: MergeReport.Detail = .changes
  ) -> MergeReport {
    var report = MergeReport()
    if let delta = other.delta(since: version) {
      report = apply(delta, reporting: detail)
    }
    // The version counts only after the other device's saves are here.
    report.add(recordVersion(other.version, of: other.device))
    return report
  }

  /// Joins a delta.
  ///
  /// A delta may arrive late, twice, in parts, through other replicas, or
  /// before its predecessors. Its complete fields are always joined.
  /// ``version`` advances by each interval that continues the saves in this
  /// replica. Any other interval leaves a gap, which the report lists. Applying
  /// a delta does not create a dot and never changes the device.
  ///
  /// - Parameters:
  ///   - delta: A delta of another replica, or a part of it.
  ///   - detail: The level of detail of the report.
  /// - Returns: A report of the changes, conflicts and faults.
  /// - Complexity: O(*k*), where *k* is the number of fields in the delta. If
  ///   the version advances, *k* includes the fields ahead of it.
  @discardableResult
  public func apply(
    _ delta: Delta, reporting detail: MergeReport.Detail = .changes
  ) -> MergeReport {
    delta.message.read {
      current.apply(&$0, schema, now: wallClock.now, reporting: detail)
    }
  }

  /// Joins an encoded delta without copying its bytes.
  ///
  ///     try data.withUnsafeBytes { try replica.apply(decoding: $0) }
  ///
  /// - Precondition: The bytes do not change during the call, as those of a
  ///   mapped file might.
  /// - Returns: A report of the changes, conflicts and faults.
  /// - Throws: ``WireError``, with the offset and the expected content. If an
  ///   error is thrown, the replica is unchanged.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  @discardableResult
  public func apply(
    decoding bytes: UnsafeRawBufferPointer,
    reporting detail: MergeReport.Detail = .changes
  ) throws(WireError) -> MergeReport {
    var records = try RecordReader(validating: bytes, as: [.delta])
    return current.apply(
      &records, schema, now: wallClock.now, reporting: detail)
  }
}
