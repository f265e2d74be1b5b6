// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// Replicas of many devices in a database, each in a scope, through which the
/// devices exchange their saves.
///
///     let hub = try await Hub(connections: 8) {
///       try PostgreSQLConnection("dbname=notes")
///     }
///     let session = hub.session { access in try user.check(access) }
///
///     // What a device sends, and what it gets:
///     try await session.apply(delta, in: "list-17")
///     try await session.delta(since: version, in: "list-17")
///
/// A hub makes no saves and has no policy: it joins and keeps. None of its replicas is
/// in memory, so that a request costs what it is about, and any number of
/// processes can serve the same database.
///
/// A request waits for one of the hub's connections, each of which has a thread of its
/// own. If its connection is lost, or the database is busy or away, the hub tries again
/// for ten seconds, with pauses that grow: every request has the same result if it is
/// made twice. A task that is cancelled while it waits has changed nothing, and throws
/// ``StoreError/canceled``.
public final class Hub: Sendable {
  let pool: HubPool
  let changes: HubChanges

  /// What a request is about to do.
  public enum Access: Hashable, Sendable {
    /// To read a scope.
    case read(scope: String)
    /// To join saves into a scope.
    case write(scope: String, Write)
    /// To say what a device holds, on which it depends what can be purged.
    case acknowledge(scope: String, device: DeviceID)
  }

  /// What a delta would do to a scope.
  public struct Write: Hashable, Sendable {
    /// The devices in whose name it writes: those whose saves it adds to any field,
    /// whose saves it declares complete, or of which it shows two saves under one
    /// number.
    public let devices: Set<DeviceID>
    /// How many of them the scope does not know.
    ///
    /// A scope keeps every device for good.
    public let newDevices: Int
    /// Whether it declares the saves of any device complete, as every delta does that
    /// a replica makes.
    ///
    /// Fields of other deltas wait in the scope until it has what they are a part of.
    public let hasIntervals: Bool
  }

  /// Opens a hub, and creates its tables if there are none.
  ///
  /// - Parameters:
  ///   - connections: How many connections it may have; they are made when they are
  ///     needed.
  ///   - connect: Connects to the database.
  /// - Throws: ``StoreError``
  public init(
    connections: Int = 8,
    _ connect: @escaping @Sendable () throws -> any SQLConnection
  ) async throws {
    precondition(
      connections > 0, "\(connections) connections: expected 1 or more")
    pool = HubPool(connections: connections, connect) {
      // The hub saves under none; each of its scopes has one.
      var random = SystemRandomNumberGenerator()
      return DeviceID.random(using: &random)
    }
    changes = HubChanges(pool)
    try await pool.run { _ in }
  }

  /// Begins to serve somebody.
  ///
  /// - Parameter check: Throws if they may not do something. What it throws is thrown by
  ///   the request, which has then changed nothing. A write is checked in the
  ///   middle of a transaction: do not wait for anything in it.
  public func session(
    _ check: @escaping @Sendable (Access) throws -> Void
  ) -> HubSession {
    HubSession(hub: self, check: check)
  }
}
