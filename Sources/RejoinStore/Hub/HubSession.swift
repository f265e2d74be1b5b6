// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The requests of one client to a hub.
///
/// The session checks every request with the closure that was passed to
/// ``Hub/makeSession(authorizing:)``.
public struct HubSession: Sendable {
  let hub: Hub
  let check: @Sendable (Hub.Request) throws -> Void

  /// Returns the version of a scope, which shows the saves that it has.
  ///
  /// If the scope does not exist, the version is empty. The version includes the
  /// stability cut of the scope. A device that records the version with
  /// `Replica.recordVersion(_:of:)` can purge what is stable
  /// at the hub.
  ///
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*d*), where *d* is the number of devices in the scope.
  public func version(of scope: String) async throws -> ReplicaVersion {
    try check(.read(scope: name(scope)))
    return try await hub.pool.run { try $0.version(of: scope) }
  }

  /// Joins a delta into a scope, and creates the scope if it does not exist.
  ///
  /// The hub calls the check after it joins the delta and before it commits the
  /// result, because the join shows which devices the delta writes for.
  ///
  /// A delta without intervals has only fields of incomplete saves. The hub
  /// keeps at most 256 such fields in a scope, in records of at most 1 MiB in
  /// total. It ignores the others and those that the check refuses.
  ///
  /// - Returns: A report that shows whether the scope has advanced, and the
  ///   faults that the hub found.
  /// - Throws: The error that the check throws, or ``StoreError``. If an error
  ///   is thrown, the scope is unchanged, unless the connection was lost.
  /// - Complexity: O(*k* + *d*), where *k* is the number of changed records and
  ///   *d* is the number of devices in the scope.
  @discardableResult
  public func apply(
    _ delta: Delta, in scope: String
  ) async throws -> MergeReport {
    let name = try name(scope)
    try hub.limits.check(delta)
    let check = check
    return try await hub.writes.make(
      .join(delta) { try check(.write(scope: name, $0)) }, in: scope)
  }

  /// Records the saves that a device holds.
  ///
  /// The hub uses the version to determine which saves are stable and whether
  /// two devices use the same device ID.
  ///
  /// - Returns: A report with the faults that the hub found.
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*d*), where *d* is the number of devices in the scope.
  @discardableResult
  public func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, in scope: String
  ) async throws -> MergeReport {
    try check(.recordVersion(scope: name(scope), device: device))
    let known = try await hub.pool.run {
      try $0.recordVersionIfKnown(version, of: device, in: scope)
    }
    if let known { return known }
    return try await hub.writes.make(
      .recordVersion(version, of: device), in: scope)
  }

  /// Returns the saves of a scope that a version lacks.
  ///
  /// The hub holds the whole delta in memory. For a device that may be far
  /// behind, use ``delta(since:byteLimit:in:)``. The records of interrupted
  /// transfers and single fields of incomplete saves follow in more deltas.
  ///
  /// - Returns: The delta, or `nil` if the version contains all saves.
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*k* + *d*), where *k* is the number of changed records and
  ///   *d* is the number of devices in the scope.
  public func delta(
    since basis: ReplicaVersion, in scope: String
  ) async throws -> Delta? {
    try check(.read(scope: name(scope)))
    return try await hub.pool.run { try $0.delta(since: basis, in: scope) }
  }

  /// Returns a part of the saves of a scope that a version lacks.
  ///
  ///     while let delta = try await session.delta(
  ///       since: tablet.version, byteLimit: 256_000, in: "list-17")
  ///     {
  ///       guard try await tablet.apply(delta).hasAdvanced else { break }
  ///     }
  ///
  /// The device's version contains the end of the previous part, so the hub
  /// keeps no state between parts, and another hub can send the next part.
  /// Saves that reach the hub in the meantime follow after the last part.
  ///
  /// - Parameters:
  ///   - basis: The version of the device.
  ///   - byteLimit: The maximum number of bytes of the records. Only a single
  ///     record can exceed it. The list of devices comes on top.
  ///   - scope: The name of the scope.
  /// - Returns: The delta, or `nil` if the version contains all saves.
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*k* + *d*), where *k* is the number of records from the
  ///   first to the last one in the delta, and *d* is the number of devices in
  ///   the scope. If few records changed, *k* is the number of changed records.
  public func delta(
    since basis: ReplicaVersion, byteLimit: Int, in scope: String
  ) async throws -> Delta? {
    try check(.read(scope: name(scope)))
    return try await hub.pool.run {
      try $0.delta(since: basis, byteLimit: byteLimit, in: scope)
    }
  }

  /// Checks the right to read a scope.
  package func checkReading(of scope: String) throws {
    try check(.read(scope: name(scope)))
  }

  /// Reads what the answer to a device needs, in one transaction and without a
  /// check.
  package func state(
    of scope: String, for shown: ReplicaVersion, of device: DeviceID?,
    byteLimit: Int
  ) async throws -> HubState {
    try await hub.pool.run {
      try $0.state(of: scope, for: shown, of: device, byteLimit: byteLimit)
    }
  }

  /// Returns a session whose check throws other errors.
  package func replacingErrorsOfCheck(
    _ replace: @escaping @Sendable (any Error) -> any Error
  ) -> HubSession {
    let check = check
    return HubSession(hub: hub) { request in
      do { try check(request) } catch { throw replace(error) }
    }
  }

  /// Returns the name of a scope as the check receives it.
  private func name(_ scope: String) throws(StoreError) -> ScopeName {
    let name = ScopeName(scope)
    try ScopeRow.checkLength(of: name.utf8)
    return name
  }
}
