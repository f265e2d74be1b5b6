// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// A way from a store to a server or another device.
///
///     let route = SyncRoute("server", scope: "list-17") { request in
///       try await connection.ask(request)
///     }
///
/// The store keeps what a route showed under its name. Give a route the same name at
/// each launch, and give another server another name.
public struct SyncRoute: Sendable {
  /// The name, which is unique in an engine.
  public let name: String
  /// The name of the scope, as the peer knows it.
  public let scope: String
  /// Carries a request to the peer, and returns the answer.
  let ask: @Sendable ([UInt8]) async throws -> [UInt8]

  /// Creates a route.
  ///
  /// - Parameters:
  ///   - name: The name, which is unique in an engine.
  ///   - scope: The name of the scope, as the peer knows it.
  ///   - ask: A closure that carries a request to the peer and returns the answer.
  ///     The engine calls it for one request at a time. It must throw an error if its
  ///     task is canceled, because ``SyncEngine/stop()`` waits for it.
  /// - Precondition: `scope` has at most 1,024 bytes.
  public init(
    _ name: String, scope: String,
    asking ask: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
  ) {
    demand(
      scope.utf8.count <= SyncMessage.scopeLimit,
      "`scope` must have at most 1,024 bytes, not \(scope.utf8.count)")
    (self.name, self.scope, self.ask) = (name, scope, ask)
  }
}
