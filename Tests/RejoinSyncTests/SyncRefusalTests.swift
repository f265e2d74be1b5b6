// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// The refusals that a client gets, with real hubs and stores.
@Suite class SyncRefusalTests: SyncSuite {
  private func phone(_ records: Int = 1) async throws -> ReplicaStore {
    let phone = try await store()
    try await phone.fill(records)
    return phone
  }

  private func refusal(
    of phone: ReplicaStore, by hub: Hub,
    _ check: @escaping @Sendable (Hub.Request) throws -> Void = { _ in }
  ) async throws -> SyncRefusal? {
    let session = hub.makeSession(authorizing: check)
    return try await phone.sync(scope: "s") { await session.answer($0) }
      .uploadRefusal
  }

  @Test func tooManyRecordsAreTooLarge() async throws {
    var limits = Hub.Limits()
    limits.recordsPerDelta = 5
    let hub = try await hub(limits: limits)
    #expect(try await refusal(of: phone(6), by: hub) == .tooLarge)
    #expect(try await refusal(of: phone(5), by: hub) == nil)
  }

  /// A record above the limit does not stop the download.
  @Test func largeRecordIsTooLarge() async throws {
    var limits = Hub.Limits()
    limits.bytesPerRecord = 200
    let hub = try await hub(limits: limits)
    let (other, phone) = (try await phone(3), try await store())
    #expect(try await refusal(of: other, by: hub) == nil)
    let text = String(repeating: "x", count: 10_000)
    try await phone.write(text, to: "large")
    #expect(try await refusal(of: phone, by: hub) == .tooLarge)
    #expect(await phone.titles.count == 4)
  }

  @Test func scopeWithTooManyDevicesIsFull() async throws {
    var limits = Hub.Limits()
    limits.devicesPerScope = 1
    let hub = try await hub(limits: limits)
    #expect(try await refusal(of: phone(), by: hub) == nil)
    #expect(try await refusal(of: phone(), by: hub) == .full)
  }

  @Test func erasedScopeIsGone() async throws {
    let (phone, hub) = (try await phone(), try await hub())
    #expect(try await refusal(of: phone, by: hub) == nil)
    try await hub.eraseScope("s")
    await #expect(throws: SyncRefusal.gone) {
      try await self.refusal(of: phone, by: hub)
    }
    // The device does not create it again.
    await #expect(throws: SyncRefusal.gone) {
      try await self.refusal(of: phone, by: hub)
    }
    #expect(await phone.titles.count == 1)
  }

  @Test func scopeOfDeviceIsWrong() async throws {
    let device = try await ReplicaStore(
      at: path("hub"), scope: "s", schema: [Item.self])
    try await device.write("Milk")
    let hub = try await hub()
    await #expect(throws: SyncRefusal.wrongScope) {
      try await self.refusal(of: self.phone(), by: hub)
    }
  }

  @Test func otherScopeOfStoreIsWrong() async throws {
    let (phone, tablet) = (try await phone(), try await store())
    for scope in ["t", "", "S"] {
      await #expect(throws: SyncRefusal.wrongScope) {
        try await phone.sync(scope: "s") {
          await tablet.answer($0, scope: scope)
        }
      }
    }
    #expect(await tablet.titles == [])
  }

  @Test func errorsOfCheckAreRefusals() async throws {
    struct Secret: Error {}
    let (phone, hub) = (try await phone(), try await hub())
    for refusal in [
      SyncRefusal.denied, .gone, .tooLarge, .busy(seconds: 77),
    ] {
      await #expect(throws: refusal) {
        try await self.refusal(of: phone, by: hub) { _ in throw refusal }
      }
    }
    await #expect(throws: SyncRefusal.denied) {
      try await self.refusal(of: phone, by: hub) { _ in throw Secret() }
    }
    // A refused version counts for nothing, and the rest of the request counts.
    let refused = try await refusal(of: phone, by: hub) { request in
      if case .recordVersion = request { throw Secret() }
    }
    #expect(refused == nil)
    // A hub of another scope keeps no version.
    let empty = try await store()
    let session = hub.makeSession { _ in }
    try await empty.sync(scope: "unknown") { await session.answer($0) }
    let connection = try SQLiteConnection(opening: path("hub"))
    #expect(
      try connection.integer("SELECT COUNT(*) FROM rejoin_scope") == 1)
  }

  @Test func closedStoreIsBusy() async throws {
    let (phone, tablet) = (try await phone(), try await store("tablet"))
    let later = try await store("tablet")
    try await later.write("Bread")
    await #expect(throws: SyncRefusal.busy(seconds: 5)) {
      try await phone.sync(scope: "s") { await tablet.answer($0, scope: "s") }
    }
    try await later.close()
    await #expect(throws: SyncRefusal.busy(seconds: 5)) {
      try await phone.sync(scope: "s") { await later.answer($0, scope: "s") }
    }
  }

  /// Each error that answering can throw.
  @Test func errorsHaveRefusals() {
    let error = SQLError(.full, "no room")
    let five = SyncRefusal.busy(seconds: 5)
    let expected: [(StoreError, SyncRefusal)] = [
      (.busy(error), five), (.unavailable(error), five), (.canceled, five),
      (.disconnected(error), five), (.closed, five), (.superseded, five),
      (.tooManyRecords(6, limit: 5), .tooLarge),
      (.recordTooLarge(RecordID("a", "b"), byteCount: 9, limit: 5), .tooLarge),
      (.tooManyDevices(limit: 1), .full), (.scopeErased, .gone),
      (.scopeBelongsToDevice, .wrongScope),
      (.notDurable(error), .busy(seconds: 60)),
      (.readOnly(error), .busy(seconds: 60)),
      (.limitExceeded(error), .busy(seconds: 60)),
      (.tokenNotStored("locked"), .busy(seconds: 60)),
    ]
    for (error, refusal) in expected {
      #expect(SyncRefusal(error) == refusal, "\(error)")
    }
  }

  /// Requests that cannot be read, by a store and by a hub.
  @Test func unreadableRequestIsRefused() async throws {
    let (store, hub) = (try await phone(), try await hub())
    let session = hub.makeSession { _ in }
    var request = SyncMessage(.request, scope: "s")
    (request.device, request.version) = (DeviceID(7), ReplicaVersion())
    let bytes = request.encoded()
    var newer = Array(bytes.dropLast(4))
    newer[2] = 3
    var answer = SyncMessage(.answer, scope: "s")
    answer.version = ReplicaVersion()
    for (bytes, refusal) in [
      ([], .damaged), (Array(bytes.dropLast()), .damaged),
      (Array("<html>".utf8), .damaged), (answer.encoded(), .damaged),
      (newer.checked, .unsupportedFormat),
      (ReplicaVersion().encoded(), .damaged),
    ] as [([UInt8], SyncRefusal)] {
      for answer in [
        await store.answer(bytes, scope: "s"), await session.answer(bytes),
      ] {
        let message = try SyncMessage(decoding: answer)
        #expect(message.kind == .answer && message.refusal == refusal)
        #expect(message.version == nil && message.scope == "")
      }
    }
    // The device that asks throws the refusal.
    await #expect(throws: SyncRefusal.damaged) {
      try await store.sync(scope: "s") { _ in await session.answer([]) }
    }
  }
}
