// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What somebody does at a hub, within what they may do.
public struct HubSession: Sendable {
  let hub: Hub
  let check: @Sendable (Hub.Access) throws -> Void

  /// The saves that a scope has; those of none if there is no such scope.
  ///
  /// Its `fieldsAhead` are empty. It has the stability cut of the scope: a device
  /// that acknowledges it, by no device, learns what it can purge.
  ///
  /// - Throws: What the check throws, or ``StoreError``.
  /// - Complexity: O(*d*) for the *d* devices of the scope.
  public func version(of scope: String) async throws -> ReplicaVersion {
    try check(.read(scope: scope))
    return try await hub.pool.run { try $0.version(of: scope) }
  }

  /// Joins a delta into a scope, which is added if there is none.
  ///
  /// The check is asked when the delta has been joined and before that is kept, since
  /// only then it is known in whose name the delta writes.
  ///
  /// - Returns: What went wrong.
  /// - Throws: What the check throws, or ``StoreError``. Nothing has then changed,
  ///   unless the connection is lost.
  /// - Complexity: O(*k*) for *k* changed records, and the devices of the scope.
  @discardableResult
  public func apply(
    _ delta: Delta, in scope: String
  ) async throws -> MergeReport {
    let check = check
    return try await hub.changes.make(
      .join(delta) { try check(.write(scope: scope, $0)) }, in: scope)
  }

  /// Notes the version that a device has shown, from which it follows what is
  /// stable and whether a device ID is in use twice.
  ///
  /// - Throws: What the check throws, or ``StoreError``.
  /// - Complexity: O(*d*) for the *d* devices of the scope.
  @discardableResult
  public func acknowledge(
    _ version: ReplicaVersion, by device: DeviceID, in scope: String
  ) async throws -> MergeReport {
    try check(.acknowledge(scope: scope, device: device))
    let known = try await hub.pool.run {
      try $0.acknowledgeIfKnown(version, by: device, in: scope)
    }
    if let known { return known }
    return try await hub.changes.make(
      .acknowledge(version, by: device), in: scope)
  }

  /// What a scope has beyond a version.
  ///
  /// - Returns: The delta; `nil` if the version contains everything.
  /// - Throws: What the check throws, or ``StoreError``.
  /// - Complexity: O(*k*) for *k* changed records, and the devices of the scope.
  ///   All of them are in memory: for a newcomer, see
  ///   ``page(after:since:in:limit:)``.
  public func delta(
    since basis: ReplicaVersion, in scope: String
  ) async throws -> Delta? {
    try check(.read(scope: scope))
    return try await hub.pool.run { try $0.delta(since: basis, in: scope) }
  }

  /// A part of what a scope has beyond a version, for a device that has little of
  /// it.
  ///
  ///     var cursor: HubPage.Cursor?
  ///     repeat {
  ///       let page = try await session.page(
  ///         after: cursor, since: replica.version, in: "list-17")
  ///       if let delta = page.delta { replica.apply(delta) }
  ///       cursor = page.next
  ///     } while cursor != nil
  ///
  /// The last page vouches for the saves that the scope had at the first one, so
  /// that it does not matter what others save in between. Whoever stops earlier
  /// begins again, and nothing is lost.
  ///
  /// - Parameters:
  ///   - cursor: Where the page before ended; `nil` for the first one.
  ///   - basis: The version of the device at the first page.
  ///   - scope: The scope.
  ///   - limit: How many records are read for a page.
  /// - Throws: What the check throws, or ``StoreError``.
  /// - Complexity: O(`limit`), and the devices of the scope.
  public func page(
    after cursor: HubPage.Cursor? = nil, since basis: ReplicaVersion,
    in scope: String, limit: Int = 1_000
  ) async throws -> HubPage {
    precondition(limit > 0, "a page of \(limit) records: expected 1 or more")
    try check(.read(scope: scope))
    return try await hub.pool.run {
      try $0.page(of: cursor, since: basis, in: scope, limit: limit)
    }
  }
}

/// Some records of a scope.
public struct HubPage: Sendable {
  /// Their news; `nil` if they have none.
  public let delta: Delta?
  /// Where the next page begins; `nil` if this is the last one.
  public let next: Cursor?

  /// The end of a page.
  public struct Cursor: Hashable, Sendable {
    let news: News
    let last: RecordID
  }
}
