// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinSync
import RejoinTesting

struct Item: Entity {
  let title = register("title", of: String.self)
  let tags = set("tags", of: String.self)
}

/// A suite whose tests have a folder of their own.
class SyncSuite {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func store(_ name: String = "\(UUID())") async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path(name), schema: [Item.self], wallClock: ManualClock().wallClock)
  }

  func hub(
    _ name: String = "hub", limits: Hub.Limits = Hub.Limits()
  ) async throws -> Hub {
    let path = path(name)
    return try await Hub(connections: 1, limits: limits) {
      let connection = try SQLiteConnection(opening: path)
      try connection.run("PRAGMA journal_mode = WAL")
      return connection
    }
  }
}

extension ReplicaStore {
  func write(_ title: String, to key: String = "1") throws {
    try save { $0[Item.self, key].title = title }
  }

  /// Saves `count` records.
  func fill(_ count: Int, titles: String = "title") throws {
    try save { transaction in
      for i in 0..<count {
        transaction[Item.self, "\(i)"].title = "\(titles) \(i)"
      }
    }
  }

  var titles: [String?] { read { $0.records(of: Item.self).map(\.title) } }
}

/// The messages that a peer received and answered.
actor Line {
  private(set) var requests: [[UInt8]] = []
  private(set) var answers: [[UInt8]] = []
  private let peer: @Sendable ([UInt8]) async throws -> [UInt8]

  init(_ peer: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) {
    self.peer = peer
  }

  func ask(_ request: [UInt8]) async throws -> [UInt8] {
    requests.append(request)
    let answer = try await peer(request)
    answers.append(answer)
    return answer
  }

  var parts: [Delta?] {
    get throws { try requests.map { try SyncMessage(decoding: $0).part } }
  }
}
