// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The requests of one client of a hub, limited to the accesses that it may
/// make.
public struct HubSession: Sendable {
  let hub: Hub
  let check: @Sendable (Hub.Access) throws -> Void

  /// Returns the saves that a scope has.
  ///
  /// If the scope does not exist, the version is empty. The `fieldsAhead` of
  /// the version are always empty. The version includes the stability cut of
  /// the scope: a device that records it, with `nil` as the device, learns
  /// what it can purge.
  ///
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*d*), where *d* is the number of devices in the scope.
  public func version(of scope: String) async throws -> ReplicaVersion {
    try check(.read(scope: scope))
    return try await hub.pool.run { try $0.version(of: scope) }
  }

  /// Joins a delta into a scope, and creates the scope if it does not exist.
  ///
  /// The hub calls the check after it joins the delta and before it commits the
  /// result. Only then does it know in whose name the delta writes.
  ///
  /// - Returns: The faults that the hub found.
  /// - Throws: The error that the check throws, or ``StoreError``. If an error
  ///   is thrown, the scope is unchanged, unless the connection was lost.
  /// - Complexity: O(*k* + *d*), where *k* is the number of changed records and
  ///   *d* is the number of devices in the scope.
  @discardableResult
  public func apply(
    _ delta: Delta, in scope: String
  ) async throws -> MergeReport {
    let check = check
    return try await hub.changes.make(
      .join(delta) { try check(.write(scope: scope, $0)) }, in: scope)
  }

  /// Records the version that a device has shown.
  ///
  /// The hub derives from it which saves are stable and whether two devices use
  /// the same device ID.
  ///
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*d*), where *d* is the number of devices in the scope.
  @discardableResult
  public func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, in scope: String
  ) async throws -> MergeReport {
    try check(.recordVersion(scope: scope, device: device))
    let known = try await hub.pool.run {
      try $0.recordVersionIfKnown(version, of: device, in: scope)
    }
    if let known { return known }
    return try await hub.changes.make(
      .recordVersion(version, of: device), in: scope)
  }

  /// Returns the saves of a scope that a version lacks.
  ///
  /// The hub holds the whole delta in memory. For a new device, use
  /// ``page(after:since:in:limit:)``.
  ///
  /// - Returns: The delta, or `nil` if the version contains all saves.
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(*k* + *d*), where *k* is the number of changed records and
  ///   *d* is the number of devices in the scope.
  public func delta(
    since basis: ReplicaVersion, in scope: String
  ) async throws -> Delta? {
    try check(.read(scope: scope))
    return try await hub.pool.run { try $0.delta(since: basis, in: scope) }
  }

  /// Returns one page of the saves that a version lacks.
  ///
  /// Use pages for a device that has little of the scope.
  ///
  ///     var cursor: HubPage.Cursor?
  ///     repeat {
  ///       let page = try await session.page(
  ///         after: cursor, since: replica.version, in: "list-17")
  ///       if let delta = page.delta { replica.apply(delta) }
  ///       cursor = page.next
  ///     } while cursor != nil
  ///
  /// The last page covers the saves that the scope had at the first page, so
  /// saves of other devices between two pages do no harm. A device that stops
  /// early starts again from the first page, and loses no saves.
  ///
  /// - Parameters:
  ///   - cursor: The end of the previous page, or `nil` for the first page.
  ///   - basis: The version of the device at the first page.
  ///   - scope: The name of the scope.
  ///   - limit: The maximum number of records to read for the page.
  /// - Throws: The error that the check throws, or ``StoreError``.
  /// - Complexity: O(`limit` + *d*), where *d* is the number of devices in the
  ///   scope.
  public func page(
    after cursor: HubPage.Cursor? = nil, since basis: ReplicaVersion,
    in scope: String, limit: Int = 1_000
  ) async throws -> HubPage {
    precondition(limit > 0, "`limit` must be 1 or more, not \(limit)")
    try check(.read(scope: scope))
    return try await hub.pool.run {
      try $0.page(of: cursor, since: basis, in: scope, limit: limit)
    }
  }
}

/// A page of the records of a scope.
public struct HubPage: Sendable {
  /// The saves that the receiver lacks, or `nil` if the page has none.
  public let delta: Delta?
  /// The cursor for the next page, or `nil` if this page is the last one.
  public let next: Cursor?

  /// The position where a page ends.
  public struct Cursor: Hashable, Sendable {
    let missing: MissingChanges
    let last: RecordID
  }
}
