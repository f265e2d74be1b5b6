// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import RejoinTesting
import Testing

@Suite class SyncingOverYourOwnTransportArticle: StoreSuite {
  struct Note: Entity {
    let title = register("title", of: String.self)
  }

  protocol Connection: Sendable {
    func ask(_ request: [UInt8]) async throws -> [UInt8]
  }

  /// Loses some messages, and repeats some answers.
  actor BadConnection: Connection {
    struct Lost: Error {}

    let answer: @Sendable ([UInt8]) async throws -> [UInt8]
    private var random = SeededRandom(seed: 7)
    private var last: [UInt8]?

    init(_ answer: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) {
      self.answer = answer
    }

    func ask(_ request: [UInt8]) async throws -> [UInt8] {
      if random.chance(percent: 20) { throw Lost() }
      if let last, random.chance(percent: 20) { return last }
      let new = try await answer(request)
      if !new.isEmpty { last = new }
      return new
    }
  }

  private func open(_ name: String) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: folder.path + "/\(name).sqlite", schema: [Note.self])
  }

  @Test func article() async throws {
    let (phone, tablet) = (try await open("phone"), try await open("tablet"))
    for store in [phone, tablet] {
      for number in 0..<50 {
        let key = await "\(store.device)-\(number)"
        try await store.save {
          $0[Note.self, key].title = String(repeating: "x", count: 5_000)
        }
      }
    }

    @Sendable func answer(
      _ request: [UInt8], from store: ReplicaStore
    ) async throws -> [UInt8] {
      let version = try ReplicaVersion(decoding: request)
      let part = try await store.delta(since: version, byteLimit: 64_000)
      return part?.encoded() ?? []
    }

    struct Stalled: Error {}

    func pull(
      into store: ReplicaStore, over connection: some Connection
    ) async throws {
      while true {
        let request = await store.version.encoded()
        let answer = try await connection.ask(request)
        if answer.isEmpty { return }
        let report = try await store.apply(decoding: answer)
        guard report.hasAdvanced else { throw Stalled() }
      }
    }

    let toPhone = BadConnection { try await answer($0, from: phone) }
    let toTablet = BadConnection { try await answer($0, from: tablet) }
    // A bad connection needs several attempts.
    for _ in 0..<40 {
      do {
        try await pull(into: tablet, over: toPhone)
        try await pull(into: phone, over: toTablet)
      } catch is BadConnection.Lost {} catch is Stalled {}
    }
    let both = await (phone.version, tablet.version)
    #expect(both.0.covers(both.1))
    #expect(both.1.covers(both.0))
    #expect(await phone.read { $0.recordCount(of: Note.self) } == 100)
    await #expect(throws: WireError.self) {
      try await answer([1, 2, 3], from: phone)
    }
  }
}
