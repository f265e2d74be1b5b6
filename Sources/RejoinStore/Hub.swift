// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// Replicas in a database, one per scope, through which devices exchange saves.
///
///     let hub = try await Hub(connections: 8) {
///       try PostgreSQLConnection("dbname=notes")
///     }
///     let session = hub.makeSession { access in try user.check(access) }
///
///     // A device sends a delta, and then asks for the saves that it lacks:
///     try await session.apply(delta, in: "list-17")
///     try await session.delta(since: version, in: "list-17")
///
/// A hub makes no saves and has no policy: it joins deltas and stores the
/// result. It keeps no replica in memory, so the cost of a request depends on
/// the data that the request concerns. Any number of processes can serve the
/// same database.
///
/// A request waits for one of the hub's connections, each with its own thread.
/// The hub retries a request for ten seconds, with growing pauses, if it loses
/// the connection or if the database is busy or unavailable. A retry is safe,
/// because a repeated request has the same result. If a task is canceled while
/// it waits, the request changes nothing and throws ``StoreError/canceled``.
public final class Hub: Sendable {
  let pool: HubPool
  let changes: HubChanges

  /// An access that a request is about to perform.
  public enum Request: Hashable, Sendable {
    /// Reading a scope.
    case read(scope: String)
    /// Joining saves into a scope.
    case write(scope: String, Write)
    /// Recording the saves that a device holds, which decides what can be
    /// purged.
    case recordVersion(scope: String, device: DeviceID)
  }

  /// The effect that a delta would have on a scope.
  public struct Write: Hashable, Sendable {
    /// The devices in whose name the delta writes.
    ///
    /// These are the devices whose saves the delta adds to any field, whose
    /// saves it declares complete, or of which it shows two saves under one
    /// number.
    public let devices: Set<DeviceID>
    /// The number of these devices that the scope does not know.
    ///
    /// A scope keeps every device permanently.
    public let newDevices: Int
    /// Whether the delta declares the saves of any device complete.
    ///
    /// Every delta that a replica makes does so. The fields of any other delta
    /// wait in the scope until the scope has the saves that they belong to.
    public let hasIntervals: Bool
  }

  /// Opens a hub, and creates its tables if they do not exist.
  ///
  /// - Parameters:
  ///   - connections: The maximum number of connections. The hub opens them
  ///     when it needs them. The default is 8.
  ///   - connect: A closure that connects to the database.
  /// - Throws: ``StoreError``
  public init(
    connections: Int = 8,
    _ connect: @escaping @Sendable () throws -> any SQLConnection
  ) async throws {
    precondition(
      connections > 0, "`connections` must be 1 or more, not \(connections)")
    pool = HubPool(connections: connections, connect) {
      // The hub makes no saves under this ID. Each of its scopes has its own.
      var random = SystemRandomNumberGenerator()
      return DeviceID.random(using: &random)
    }
    changes = HubChanges(pool)
    try await pool.run { _ in }
  }

  /// Returns a session that serves one client.
  ///
  /// - Parameter check: A closure that throws an error if the client must not
  ///   perform an access. The request then throws this error and changes
  ///   nothing. A write is checked during a transaction, so the closure must
  ///   not wait.
  public func makeSession(
    authorizing check: @escaping @Sendable (Request) throws -> Void
  ) -> HubSession {
    HubSession(hub: self, check: check)
  }
}
