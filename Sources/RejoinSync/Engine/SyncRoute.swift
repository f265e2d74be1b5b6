// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A way from a store to a server or another device.
///
///     let route = SyncRoute("server", scope: "list-17") { request in
///       try await connection.ask(request)
///     }
///
/// The engine keeps what a route showed under its name, so give a route the same
/// name at each launch.
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
  ///     task is canceled, because ``SyncEngine/stop()`` waits for it, and must not
  ///     call the engine.
  public init(
    _ name: String, scope: String,
    asking ask: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
  ) {
    (self.name, self.scope, self.ask) = (name, scope, ask)
  }
}
