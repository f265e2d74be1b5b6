// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import RejoinSync

/// A suite of an article whose tests have a server on the loopback interface.
class ServerSuite: SyncSuite {
  struct Note: Entity {
    let title = register("title", of: String.self)
  }

  struct Offline: Error {}

  private var servers: [TestServer] = []

  deinit { for server in servers { server.stop() } }

  /// Starts a server, and returns its URL.
  func serve(
    _ answer: @escaping @Sendable ([UInt8]) async -> [UInt8]
  ) throws -> URL {
    let server = try TestServer(awaiting: { .init(200, await answer($0.body)) })
    servers.append(server)
    return server.url
  }

  func openStore(_ name: String = "\(UUID())") async throws -> ReplicaStore {
    try await ReplicaStore(at: path(name), schema: [Note.self])
  }
}

/// The folder and the servers of a suite on the main actor, which starts them
/// one after another.
final class ServerFiles: ServerSuite, @unchecked Sendable {}

extension ReplicaStore {
  /// The titles of all notes.
  var noteTitles: [String?] {
    read { $0.records(of: ServerSuite.Note.self).map(\.title) }
  }
}
