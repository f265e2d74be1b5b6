// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinStore
import RejoinTesting
import Testing

@testable import RejoinSync

/// The failures of other systems in *What goes wrong in sync*.
@Suite final class FieldReportTests: SyncSuite {
  private struct Note: Entity {
    let title = register("title", of: String.self)
    let size = counter("size")
  }

  private func store(
    _ name: String, _ device: UInt64, at time: Int64
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path(name), schema: [Note.self],
      wallClock: ManualClock(time).wallClock,
      makeDeviceID: { [devices] in
        DeviceID(high: device, low: devices.next())
      })
  }

  private let devices = Numbers()

  private final class Numbers: Sendable {
    private let last = Locked<UInt64>(0)
    func next() -> UInt64 {
      last.withLock {
        $0 += 1
        return $0
      }
    }
  }

  private func write(_ title: String, in store: ReplicaStore) async throws {
    try await store.save { $0[Note.self, "1"].title = title }
  }

  /// Returns the title that a store shows, and the titles of the conflict.
  private func shown(_ store: ReplicaStore) async -> [String?] {
    await store.read { view in
      guard let note = view[Note.self, "1"] else { return ["no record"] }
      return [note.title] + note.conflictingValues(of: \.title)
    }
  }

  private func sync(_ store: ReplicaStore, _ hub: Hub) async throws {
    let session = hub.makeSession { _ in }
    try await store.sync(scope: "s") { await session.answer($0) }
  }

  /// Returns what a phone and a tablet show that wrote one field at two times, and then
  /// synced in an order.
  private func shown(
    at times: [Int64], syncing order: [Int]
  ) async throws -> [[String?]] {
    let hub = try await hub()
    let stores = [
      try await store("phone", 1, at: times[0]),
      try await store("tablet", 2, at: times[1]),
    ]
    try await write("Milk", in: stores[0])
    try await write("Tea", in: stores[1])
    for i in order + [0, 1] { try await sync(stores[i], hub) }
    return [await shown(stores[0]), await shown(stores[1])]
  }

  /// The report sqlite-data#506.
  @Test(arguments: [[0, 1, 0], [1, 0, 1], [0, 1, 1, 0], [1, 1, 0, 1]])
  func equalTimesEndEqual(order: [Int]) async throws {
    // The device ID decides, and the other value is a conflict.
    let shown = try await shown(at: [5_000, 5_000], syncing: order)
    #expect(shown == [["Tea", "Milk"], ["Tea", "Milk"]])
  }

  /// The report sqlite-data#354.
  @Test(arguments: [[0, 1], [1, 0]])
  func orderOfArrivalDoesNotDecide(order: [Int]) async throws {
    let shown = try await shown(at: [9_000, 5_000], syncing: order)
    #expect(shown == [["Milk", "Tea"], ["Milk", "Tea"]])
  }

  /// The report sqlite-data#418.
  @Test(arguments: [false, true])
  func recordThatIsInsertedAgainReturns(inOneSave: Bool) async throws {
    let hub = try await hub()
    let phone = try await store("phone", 1, at: 5_000)
    let tablet = try await store("tablet", 2, at: 5_000)
    try await write("Milk", in: phone)
    for store in [phone, tablet] { try await sync(store, hub) }
    let id = RecordID("Note", "1")
    if inOneSave {
      try await phone.save {
        $0.delete(id)
        $0[Note.self, "1"].title = "Tea"
      }
    } else {
      try await phone.save { $0.delete(id) }
      try await write("Tea", in: phone)
    }
    for store in [phone, tablet] { try await sync(store, hub) }
    #expect(await shown(phone) == ["Tea"])
    #expect(await shown(tablet) == ["Tea"])
  }

  /// The reports sqlite-data#432 and #492.
  @Test func failedCallsKeepUnsentSaves() async throws {
    let hub = try await hub()
    let session = hub.makeSession { _ in }
    let phone = try await store("phone", 1, at: 5_000)
    let failures = Locked(5)
    let engine = SyncEngine(
      phone,
      routes: [
        SyncRoute("hub", scope: "s") { request in
          let fails = failures.withLock { left in
            left -= 1
            return left >= 0
          }
          if fails { throw URLError(.networkConnectionLost) }
          return await session.answer(request)
        }
      ])
    try await write("Milk", in: phone)
    for _ in 0..<5 {
      let status = try #require(await engine.sync().first)
      #expect(status.unsentSaves == 1 && !status.isUploaded)
      #expect(status.error != nil)
    }
    let status = try #require(await engine.sync().first)
    #expect(status.isUploaded && status.error == nil)
    let tablet = try await store("tablet", 2, at: 5_000)
    try await sync(tablet, hub)
    #expect(await shown(tablet) == ["Milk"])
  }

  /// The report turso#8129.
  @Test func restoredBackupSendsLaterSaves() async throws {
    let hub = try await hub()
    func count(_ store: ReplicaStore) async throws {
      try await store.save { $0[Note.self, "1"].size.increment() }
      try await sync(store, hub)
    }
    let phone = try await store("phone", 1, at: 5_000)
    try await count(phone)
    try await phone.backup(to: path("backup"))
    try await count(phone)
    try await phone.close()
    try FileManager.default.removeItem(atPath: path("phone"))
    try FileManager.default.moveItem(
      atPath: path("backup"), toPath: path("phone"))
    let restored = try await store("phone", 1, at: 5_000)
    #expect(await restored.deviceChange != nil)
    try await count(restored)
    // All three increments are there, once each.
    let tablet = try await store("tablet", 2, at: 5_000)
    try await sync(tablet, hub)
    for store in [restored, tablet] {
      #expect(await store.read { $0[Note.self, "1"]?.size } == 3)
    }
  }

  /// The report rag-rat#1285.
  @Test func purgeKeepsUnsentEdit() async throws {
    let hub = try await hub()
    let phone = try await store("phone", 1, at: 5_000)
    let tablet = try await store("tablet", 2, at: 5_000)
    try await write("Milk", in: phone)
    for store in [phone, tablet] {
      try await store.withReplica { try $0.enroll($0.device, name: "device") }
      for other in [phone, tablet, phone] { try await sync(other, hub) }
    }
    try await phone.save { $0.delete(RecordID("Note", "1")) }
    try await tablet.save { $0[Note.self, "1"].size.increment() }
    for _ in 0..<4 {
      // The tablet is offline, and the phone purges what it may.
      let report = try await phone.withReplica { try $0.purgeDeletedRecords() }
      #expect(report.droppedRecords.isEmpty)
      try await sync(phone, hub)
    }
    for _ in 0..<4 {
      for store in [tablet, phone] {
        try await sync(store, hub)
        _ = try await store.withReplica { try $0.purgeDeletedRecords() }
      }
    }
    for store in [phone, tablet] {
      #expect(await store.read { $0[Note.self, "1"]?.size } == 1)
      #expect(await shown(store) == ["Milk"])
    }
  }
}
