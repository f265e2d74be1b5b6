// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinSync
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore

/// Requests and answers of `RejoinSync` on each database.
@Suite final class HubAnswerTests: HubSuite {
  private func session(
    on connection: any SQLConnection
  ) async throws -> HubSession {
    nonisolated(unsafe) let connection = connection
    return try await Hub(connections: 1) { connection }.makeSession { _ in }
  }

  private func store() async throws -> ReplicaStore {
    try await ReplicaStore.inMemory(schema: [Note.self])
  }

  @discardableResult
  private func sync(
    _ store: ReplicaStore, _ session: HubSession,
    assuming hint: ReplicaVersion? = nil
  ) async throws -> SyncResult {
    try await store.sync(scope: scope, assuming: hint) {
      await session.answer($0)
    }
  }

  @Test(arguments: Database.available)
  func idleCallWritesNothing(_ database: Database) async throws {
    let connection = CountingConnection(try connect(database))
    let session = try await session(on: connection)
    let (phone, tablet) = (try await store(), try await store())
    for (device, key) in [(phone, "1"), (tablet, "2")] {
      try await device.save { $0[Note.self, key].title = "Milk" }
    }
    var last: ReplicaVersion?
    for _ in 0..<4 {
      for device in [phone, tablet] {
        last = try await sync(device, session).peerVersion
      }
    }
    for hint in [nil, last] {
      connection.reset()
      #expect(try await sync(phone, session, assuming: hint).isSynced)
      #expect(connection.writes == [])
      // One transaction, which takes no lock.
      #expect(connection.statements.count { $0.hasPrefix("BEGIN") } == 1)
      #expect(!connection.statements.contains { $0.contains("advisory") })
    }
    // A device without saves is not recorded, and creates no scope.
    connection.reset()
    for name in [scope, scope + " 2"] {
      let newcomer = try await store()
      let result = try await newcomer.sync(scope: name) {
        await session.answer($0)
      }
      #expect(result.isSynced)
    }
    #expect(connection.writes == [])
  }

  @Test(arguments: Database.available)
  func answerHasVersionAndPartOfOneState(_ database: Database) async throws {
    let session = try await session(on: connect(database))
    let (phone, tablet) = (try await store(), try await store())
    for i in 0..<30 {
      try await phone.save { $0[Note.self, "\(i)"].title = "Milk \(i)" }
      try await sync(phone, session)
    }
    let result = try await tablet.sync(scope: scope, bytesPerPart: 1) {
      await session.answer($0)
    }
    #expect(result.isSynced)
    #expect(
      try await tablet.delta(since: ReplicaVersion())
        == phone.delta(since: ReplicaVersion()))
  }

  /// In each of 60 rounds, or 200 in a nightly run, 50 devices save and sync one after
  /// another.
  @Test func busyHubLearnsVersions() async throws {
    let connection = CountingConnection(try connect(.sqlite))
    let session = try await session(on: connection)
    var devices: [(store: ReplicaStore, hint: ReplicaVersion?)] = []
    for _ in 0..<50 { devices.append((try await store(), nil)) }
    var (cuts, exchanges, commits) = (0, 0, 0)
    var cut = VectorClock()
    let rounds = Tier.isNightly ? 200 : 60
    for round in 0..<rounds {
      for i in devices.indices {
        let store = devices[i].store
        try await store.save {
          $0[Note.self, "\(i)"].title = "\(round)"
        }
        connection.reset()
        let asked = Locked(0)
        devices[i].hint = try await store.sync(
          scope: scope, assuming: devices[i].hint
        ) {
          asked.withLock { $0 += 1 }
          return await session.answer($0)
        }.peerVersion
        exchanges += asked.withLock { $0 }
        commits += connection.statements.count {
          $0.hasPrefix("BEGIN IMMEDIATE")
        }
        let now = devices[i].hint?.stabilityCut ?? cut
        if now != cut {
          cuts += 1
          cut = now
        }
      }
    }
    print("busy hub: \(cuts) cuts, \(exchanges) exchanges, \(commits) writes")
    #expect(cuts >= 10)
    // Each save has a write. Each mark has at most one of each device.
    #expect(commits <= 50 * rounds + 50 * (cuts + 2))
    #expect(exchanges <= 2 * 50 * rounds)
  }
}
