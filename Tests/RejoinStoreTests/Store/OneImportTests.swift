// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import Testing

/// An app that imports only the store.
@Suite final class OneImportTests: StoreSuite {
  private struct Trip: Entity {
    let start = register("start", of: Date.self)
    let ticket = register("ticket", of: UUID.self)
    let photo = register("photo", of: Data.self)
    let page = register("page", of: URL.self)
    let price = register("price", of: Decimal.self)
    let length = register("length", of: Coded<Duration>.self)
    let nights = counter("nights")
  }

  @Test func fieldsTakeFoundationValues() async throws {
    let start = Date(timeIntervalSince1970: 1_750_000_000)
    let (ticket, page) = (UUID(), URL(string: "https://example.com/1"))
    let store = try await ReplicaStore(at: path, schema: [Trip.self])
    try await store.save { transaction in
      let trip = transaction[Trip.self, "1"]
      (trip.start, trip.ticket, trip.page) = (start, ticket, page)
      trip.photo = Data([1, 2])
      trip.price = Decimal(string: "119.50")
      trip.length = Coded(.seconds(90))
      trip.nights.increment(by: 2)
    }
    try await store.close()

    let again = try await ReplicaStore(at: path, schema: [Trip.self])
    let trip = try #require(await again.read { $0[Trip.self, "1"] })
    #expect(trip.start == start)
    #expect(trip.ticket == ticket)
    #expect(trip.page == page)
    #expect(trip.photo == Data([1, 2]))
    #expect(trip.price == Decimal(string: "119.5"))
    #expect(trip.length?.content == .seconds(90))
    #expect(trip.nights == 2)
  }

  @Test func defaultClockIsSystemClock() async throws {
    for store in [
      try await ReplicaStore(at: path, schema: [Trip.self]),
      try await ReplicaStore.inMemory(schema: [Trip.self]),
    ] {
      let start = WallClock.system.now
      try await store.save { $0[Trip.self, "1"].start = Date() }
      let write = try #require(
        await store.read { $0[Trip.self, "1"]?.writes(of: \.start).first })
      #expect(write.time.milliseconds >= start)
      #expect(write.time.milliseconds <= WallClock.system.now + 1)
    }
  }

  @Test func defaultDeviceIDsDiffer() async throws {
    var devices: Set<DeviceID> = []
    for name in ["phone", "tablet"] {
      let store = try await ReplicaStore(
        at: folder.file("\(name).sqlite"), schema: [Trip.self])
      devices.insert(await store.device)
      let preview = try await ReplicaStore.inMemory(schema: [Trip.self])
      devices.insert(await preview.device)
    }
    #expect(devices.count == 4)
  }
}
