// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore

/// A way from a store to a server, another device or a storage of objects.
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
  /// How the route reaches its peer.
  let means: Means

  enum Means: Sendable {
    /// A closure carries a request to the peer, and returns the answer.
    case asking(@Sendable ([UInt8]) async throws -> [UInt8])
    /// The devices meet in a storage.
    case objects(any ObjectStorage)
  }

  /// The time between a save and a pass, in milliseconds.
  ///
  /// An object is a file, and one with several saves is better.
  var delayOfSave: Int64 {
    switch means {
    case .asking: 2_000
    case .objects: 15_000
    }
  }

  /// Creates a route over messages.
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
    self.init(name, scope, .asking(ask))
  }

  /// Creates a route through a storage of objects.
  ///
  /// - Parameters:
  ///   - name: The name, which is unique in an engine.
  ///   - scope: The name of the scope, which must be the same on every device.
  ///   - storage: The storage, which contains the objects of this scope only.
  /// - Precondition: `scope` has at most 1,024 bytes.
  public init(
    _ name: String, scope: String, objects storage: any ObjectStorage
  ) {
    self.init(name, scope, .objects(storage))
  }

  private init(_ name: String, _ scope: String, _ means: Means) {
    demand(
      scope.utf8.count <= SyncMessage.scopeLimit,
      "`scope` must have at most 1,024 bytes, not \(scope.utf8.count)")
    (self.name, self.scope, self.means) = (name, scope, means)
  }
}
