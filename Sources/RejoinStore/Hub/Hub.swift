// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinFoundation
import RejoinSQL

/// A database through which devices exchange saves, with a replica per scope.
///
///     let hub = try await Hub(connections: 8) {
///       try PostgreSQLConnection("dbname=notes")
///     }
///     let session = hub.makeSession { request in try user.check(request) }
///
///     // A device sends a delta, and then asks for the saves that it lacks:
///     try await session.apply(delta, in: "list-17")
///     try await session.delta(since: version, in: "list-17")
///
/// A hub joins deltas and stores the result. It makes no saves and has no
/// policy. It does not load whole replicas, so the cost of a request depends on
/// the records that the request concerns and on the devices of its scope. Any
/// number of processes can serve the same database.
///
/// Each connection of the hub has its own thread, and a request waits for one
/// of them. If the connection is lost, or if the database is busy, read-only or
/// unavailable, the hub retries the request for ten seconds with growing
/// pauses. A retry is safe, because a repeated request has the same result. If
/// a task is canceled while it waits, the request changes nothing and throws
/// ``StoreError/canceled``.
public final class Hub: Sendable {
  let pool: HubPool
  let writes: HubWriteQueue
  let limits: Limits

  /// An access to check before a request performs it.
  public enum Request: Hashable, Sendable {
    /// Reading a scope.
    case read(scope: ScopeName)
    /// Joining saves into a scope.
    case write(scope: ScopeName, Write)
    /// Recording the saves that a device holds, which determine the records
    /// that can be purged.
    case recordVersion(scope: ScopeName, device: DeviceID)
  }

  /// The effect that a delta would have on a scope.
  public struct Write: Hashable, Sendable {
    /// The devices that the delta writes for.
    ///
    /// A delta writes for a device if it adds the device's saves to a field,
    /// declares them complete, or contradicts a stored save: it has the same
    /// number, but other content.
    public let devices: Set<DeviceID>
    /// The number of these devices that are new to the scope.
    ///
    /// A scope keeps every device permanently.
    public let newDevices: Int
  }

  /// Opens a hub, and creates its tables if they do not exist.
  ///
  /// - Parameters:
  ///   - connections: The maximum number of connections, which the hub opens on
  ///     demand. The default is 8.
  ///   - limits: The limits of the requests and scopes.
  ///   - connect: A closure that connects to the database.
  /// - Throws: ``StoreError``
  public init(
    connections: Int = 8, limits: Limits = Limits(),
    _ connect: @escaping @Sendable () throws -> any SQLConnection
  ) async throws {
    demand(
      connections > 0, "`connections` must be 1 or more, not \(connections)")
    for limit in [
      limits.recordsPerDelta, limits.devicesPerScope, limits.bytesPerRecord,
    ] {
      demand(limit > 0, "a limit must be 1 or more, not \(limit)")
    }
    self.limits = limits
    // Each scope has its own device ID. The hub makes no saves under it.
    pool = HubPool(
      connections: connections, limits: limits, connect,
      makeDeviceID: DeviceID.random)
    let hasOneWriter = try await pool.run { $0.hasOneWriter }
    writes = HubWriteQueue(pool, hasOneWriter: hasOneWriter)
  }

  /// Creates a session for one client.
  ///
  /// - Parameter check: A closure that checks each access. To refuse the
  ///   access, throw an error. The request then throws this error and has no
  ///   effect. The closure must not wait, because the hub checks writes during
  ///   a transaction.
  public func makeSession(
    authorizing check: @escaping @Sendable (Request) throws -> Void
  ) -> HubSession {
    HubSession(hub: self, check: check)
  }
}
