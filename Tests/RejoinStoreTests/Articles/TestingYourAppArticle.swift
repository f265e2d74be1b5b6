// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import RejoinTesting
import Testing

@Suite struct TestingYourAppArticle {
  struct Note: Entity {
    let title = register("title", of: String.self)
  }

  @Test func article() async throws {
    let phoneClock = ManualClock(1_750_000_000_000)
    let tabletClock = ManualClock(1_750_000_000_000)
    let phone = try await ReplicaStore.inMemory(
      schema: [Note.self], wallClock: phoneClock.wallClock,
      makeDeviceID: { DeviceID(1) })
    let tablet = try await ReplicaStore.inMemory(
      schema: [Note.self], wallClock: tabletClock.wallClock,
      makeDeviceID: { DeviceID(2) })

    func meet(_ a: ReplicaStore, _ b: ReplicaStore) async throws {
      if let delta = try await a.delta(since: b.version) {
        try await b.apply(delta)
      }
      if let delta = try await b.delta(since: a.version) {
        try await a.apply(delta)
      }
    }

    try await phone.save { $0[Note.self, "1"].title = "Milk" }
    tabletClock.now += 1_000
    try await tablet.save { $0[Note.self, "1"].title = "Oat milk" }
    try await meet(phone, tablet)

    let note = await phone.read { $0[Note.self, "1"] }
    #expect(note?.title == "Oat milk")
    #expect(note?.conflictingValues(of: \.title) == ["Milk"])

    phoneClock.now -= 365 * 24 * 60 * 60 * 1_000
    try await phone.save { $0[Note.self, "1"].title = "Cheese" }
    try await meet(phone, tablet)
    #expect(await tablet.read { $0[Note.self, "1"]?.title } == "Cheese")
  }
}
