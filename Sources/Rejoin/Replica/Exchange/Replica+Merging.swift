// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Creates a delta of what this replica has seen and `basis` has not.
  ///
  /// It has every field with a save beyond `basis`, complete with its clock,
  /// and for each device the interval of saves whose effects are in them.
  ///
  /// The delta is complete even if the receiver has received parts of it. To continue
  /// with parts, call ``delta(since:byteLimit:)``.
  ///
  /// - Parameter basis: The receiver's ``version``, or any earlier one.
  /// - Returns: The delta; `nil` if `basis` contains everything.
  /// - Complexity: O(*k* log *k*), where *k* is the number of changed fields,
  ///   whatever the size of the replica. A large set, counter or ledger adds
  ///   only its new part. If an element was removed from a set since `basis`,
  ///   the set is sent as a whole, which adds O(*n* log *n*), where *n* is the
  ///   number of its elements: a removal leaves nothing in the set that a part
  ///   could name.
  public func delta(since basis: ReplicaVersion) -> Delta? {
    hasExported = true
    return stored.delta(of: stored.missingChanges(since: basis))
  }

  /// Creates a delta of the first records that this replica has changed and `basis` lacks.
  ///
  ///     while let delta = phone.delta(since: tablet.version, byteLimit: 256_000) {
  ///       guard tablet.apply(delta).hasAdvanced else { break }
  ///     }
  ///
  /// Records are in the order of their IDs. The receiver's next version contains the
  /// point where the part ends. You can interrupt the transfer after any part, and
  /// continue it later, from this replica or from another. Take parts from one replica
  /// at a time where you can. Parts of the same saves from two replicas can delay each
  /// other, but lose nothing.
  ///
  /// - Parameters:
  ///   - basis: The receiver's ``version``, or any earlier one.
  ///   - byteLimit: The maximum number of bytes. Only a delta of a single record can
  ///     exceed it.
  /// - Returns: The delta; `nil` if `basis` contains everything.
  /// - Complexity: O(*k* + log *n*), where *k* is the number of records from the
  ///   first to the last one in the delta, and *n* is that of all records. If at most
  ///   10,000 fields have changed, *k* is the number of changed ones.
  public func delta(
    since basis: ReplicaVersion, byteLimit: Int
  ) -> Delta? {
    hasExported = true
    return stored.delta(
      of: stored.missingChanges(since: basis, inParts: true),
      byteLimit: byteLimit)
  }

  /// Creates a delta of everything that this replica holds.
  ///
  /// - Returns: The delta; `nil` if the replica is empty.
  public func delta() -> Delta? { delta(since: ReplicaVersion()) }

  /// Joins the state of another replica, and records its version.
  ///
  /// - Complexity: That of the delta that is missing here.
  @discardableResult
  public func merge(
    _ other: Replica, reporting detail: MergeReport.Detail = .changes
  ) -> MergeReport {
    var report = recordVersion(other.version, of: other.device)
    if let delta = other.delta(since: version) {
      report.add(apply(delta, reporting: detail))
    }
    return report
  }

  /// Joins a delta.
  ///
  /// A delta may arrive late, twice, in parts, through other replicas, or
  /// before its predecessors. Its fields are always joined. ``version``
  /// advances by each interval that continues the saves held here; any other
  /// interval leaves a gap, which is reported. Applying a delta creates no dot
  /// and never changes the device.
  ///
  /// - Parameters:
  ///   - delta: A delta of another replica, or a part of it.
  ///   - detail: How much to report.
  /// - Returns: What changed, and what went wrong.
  /// - Complexity: O(*k*), where *k* is the number of fields in the delta. If
  ///   the version advances, *k* includes the fields ahead of it.
  @discardableResult
  public func apply(
    _ delta: Delta, reporting detail: MergeReport.Detail = .changes
  ) -> MergeReport {
    delta.message.read {
      stored.apply(&$0, schema, now: wallClock.now, reporting: detail)
    }
  }

  /// Joins an encoded delta or snapshot without copying its bytes.
  ///
  ///     try data.withUnsafeBytes { try replica.apply(decoding: $0) }
  ///
  /// - Precondition: The bytes do not change during the call, as those of a
  ///   mapped file might.
  /// - Returns: What changed, and what went wrong.
  /// - Throws: ``WireError``, with the offset and what was expected there. On
  ///   error, the replica is unchanged.
  /// - Complexity: O(*n*) for *n* bytes.
  @discardableResult
  public func apply(
    decoding bytes: UnsafeRawBufferPointer,
    reporting detail: MergeReport.Detail = .changes
  ) throws(WireError) -> MergeReport {
    var records = try RecordReader(
      validating: bytes, as: [.delta, .snapshot])
    return stored.apply(
      &records, schema, now: wallClock.now, reporting: detail)
  }
}
