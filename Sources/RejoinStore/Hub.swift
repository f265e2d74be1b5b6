// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// Replicas of many devices in a database, each in a scope, through which the
/// devices exchange their saves.
///
///     let hub = try Hub(
///       PostgreSQLConnection("dbname=notes"), makeDeviceID: DeviceID.random)
///     let session = hub.session { access in try user.check(access) }
///
///     // What a device sends, and what it gets:
///     try await session.apply(delta, in: "list-17")
///     try await session.delta(since: version, in: "list-17")
///
/// A hub makes no saves and has no policy: it joins and keeps. None of its replicas is
/// in memory, so that a request costs what it is about, and any number of
/// processes can serve the same database. A request that fails has changed nothing;
/// where it is not known whether it has, as with a connection that is lost, it can be
/// made again.
///
/// The database's calls block the thread. To serve many requests at once, make
/// several hubs, each with a connection.
public actor Hub {
  fileprivate let scopes: HubScopes

  /// What a request is about to do.
  public enum Access: Hashable, Sendable {
    /// To read a scope.
    case read(scope: String)
    /// To join saves into a scope, of which the delta has all that these devices
    /// made in some interval. A device may send those of others that it has met.
    case write(scope: String, devices: Set<DeviceID>)
    /// To say what a device holds, on which it depends what can be purged.
    case acknowledge(scope: String, device: DeviceID)
  }

  /// Opens a hub, and creates its tables if there are none.
  ///
  /// - Parameters:
  ///   - connection: The database, which nobody else uses through it.
  ///   - makeDeviceID: Returns an ID that has never been used. The hub saves under
  ///     none; each of its scopes has one.
  /// - Throws: ``StoreError``
  public init(
    _ connection: sending any SQLConnection,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) throws(StoreError) {
    scopes = try HubScopes(connection, makeDeviceID: makeDeviceID)
  }

  /// Begins to serve somebody.
  ///
  /// - Parameter check: Throws if they may not do something. What it throws is thrown by
  ///   the request, which has then done nothing.
  public nonisolated func session(
    _ check: @escaping @Sendable (Access) throws -> Void
  ) -> HubSession {
    HubSession(hub: self, check: check)
  }
}

/// What somebody does at a hub, within what they may do.
public struct HubSession: Sendable {
  fileprivate let hub: Hub
  fileprivate let check: @Sendable (Hub.Access) throws -> Void

  /// The saves that a scope has; those of none if there is no such scope.
  ///
  /// - Throws: What the check throws, or ``StoreError``.
  public func version(of scope: String) async throws -> ReplicaVersion {
    try check(.read(scope: scope))
    return try await hub.version(of: scope)
  }

  /// Joins a delta into a scope, which is added if there is none.
  ///
  /// - Returns: What went wrong.
  /// - Throws: What the check throws, or ``StoreError``. Nothing has then changed,
  ///   unless the connection is lost.
  /// - Complexity: O(*k*) for *k* changed records, and the devices of the scope.
  @discardableResult
  public func apply(
    _ delta: Delta, in scope: String
  ) async throws -> MergeReport {
    try check(.write(scope: scope, devices: Set(delta.intervals.keys)))
    return try await hub.apply(delta, in: scope)
  }

  /// Notes the version that a device has shown, from which it follows what is
  /// stable and whether a device ID is in use twice.
  ///
  /// - Throws: What the check throws, or ``StoreError``.
  @discardableResult
  public func acknowledge(
    _ version: ReplicaVersion, by device: DeviceID, in scope: String
  ) async throws -> MergeReport {
    try check(.acknowledge(scope: scope, device: device))
    return try await hub.acknowledge(version, by: device, in: scope)
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
    return try await hub.delta(since: basis, in: scope)
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
    return try await hub.page(of: cursor, since: basis, in: scope, limit: limit)
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
    let record: Int64
  }
}

extension Hub {
  fileprivate func version(of scope: String) throws -> ReplicaVersion {
    try scopes.version(of: scope)
  }

  fileprivate func apply(
    _ delta: Delta, in scope: String
  ) throws -> MergeReport {
    try scopes.apply(delta, in: scope)
  }

  fileprivate func acknowledge(
    _ version: ReplicaVersion, by device: DeviceID, in scope: String
  ) throws -> MergeReport {
    try scopes.acknowledge(version, by: device, in: scope)
  }

  fileprivate func delta(
    since basis: ReplicaVersion, in scope: String
  ) throws -> Delta? {
    try scopes.delta(since: basis, in: scope)
  }

  fileprivate func page(
    of cursor: HubPage.Cursor?, since basis: ReplicaVersion, in scope: String,
    limit: Int
  ) throws -> HubPage {
    try scopes.page(of: cursor, since: basis, in: scope, limit: limit)
  }
}
