// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Calls that meet what other calls left or do meanwhile.
@Suite class ConcurrentSyncTests: SyncSuite {
  private struct Cut: Error {}

  /// A part of fewer saves may replace a prefix without ending the upload.
  @Test(arguments: [2, 4])
  func replacedPrefixesDoNotEndUpload(_ count: Int) async throws {
    let (relay, hub) = (try await store(), try await hub())
    let session = hub.makeSession { _ in }
    var phones: [ReplicaStore] = []
    for i in 0..<count {
      let phone = try await store()
      try await phone.save { transaction in
        for k in 0..<300 {
          transaction[Item.self, "\(k + 100)d\(i)"].title = "title \(k)"
        }
      }
      try await relay.sync(scope: "s") { await phone.answer($0, scope: "s") }
      try await phone.save { transaction in
        for k in 0..<300 {
          transaction[Item.self, "\(k + 100)e\(i)"].title = "later \(k)"
        }
      }
      phones.append(phone)
    }
    // The uploads of the phones are cut at different records.
    for (i, phone) in phones.enumerated() {
      let number = Locked(0)
      await #expect(throws: Cut.self) {
        try await phone.sync(scope: "s", bytesPerPart: 400) { request in
          let answer = await session.answer(request)
          if number.withLock({
            $0 += 1; return $0
          }) == 3 + i * 3 {
            throw Cut()
          }
          return answer
        }
      }
    }
    let result = try await relay.sync(scope: "s", bytesPerPart: 400) {
      await session.answer($0)
    }
    #expect(result.isSynced && result.uploadRefusal == nil)
  }

  /// While an answer is on its way, another device sends the same saves.
  @Test func partOfOtherCallDoesNotEndDownload() async throws {
    let (first, tablet, phone) = (
      try await store(), try await store(), try await store()
    )
    let session = try await hub().makeSession { _ in }
    try await first.fill(40)
    try await first.sync(scope: "s") { await tablet.answer($0, scope: "s") }
    try await first.sync(scope: "s") { await session.answer($0) }
    let other = try await store()
    try await other.save { transaction in
      for i in 0..<40 { transaction[Item.self, "other \(i)"].title = "\(i)" }
    }
    let number = Locked(0)
    let result = try await phone.sync(scope: "s", bytesPerPart: 400) {
      let count = number.withLock {
        $0 += 1; return $0
      }
      if count == 2 {
        try await other.sync(scope: "s") { await session.answer($0) }
      }
      let answer = await session.answer($0)
      if count == 2 {
        try await tablet.sync(scope: "s") {
          await phone.answer($0, scope: "s")
        }
      }
      return answer
    }
    #expect(result.isSynced)
    #expect(await phone.titles.count == 80)
  }

  @Test func callsInBothDirectionsSync() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.fill(200, titles: "phone")
    try await tablet.save { transaction in
      for i in 0..<200 { transaction[Item.self, "t\(i)"].title = "tablet" }
    }
    async let there = phone.sync(scope: "s", bytesPerPart: 500) {
      await tablet.answer($0, scope: "s")
    }
    async let back = tablet.sync(scope: "s", bytesPerPart: 500) {
      await phone.answer($0, scope: "s")
    }
    let results = try await (there, back)
    #expect(results.0.isSynced && results.1.isSynced)
    #expect(await phone.titles.count == 400)
    #expect(await tablet.titles.count == 400)
  }

  /// Records that the hub reads for its version can follow the last one of a part.
  @Test func partEndsAtLastReadRecord() async throws {
    let (lost, writer, relay) = (
      try await store(), try await store(), try await store()
    )
    try await writer.save { transaction in
      for i in 0..<300 {
        transaction[Item.self, "\(i + 100)"].title = "title \(i)"
      }
      transaction[Item.self, "zzz"].title = "last"
    }
    try await lost.sync(scope: "s") { await writer.answer($0, scope: "s") }
    try await relay.sync(scope: "s") { await writer.answer($0, scope: "s") }
    try await lost.save { transaction in
      for key in ["aaa", "zzz"] { transaction[Item.self, key].tags.insert("x") }
    }
    let delta = try #require(await lost.delta(since: relay.version))
    try await relay.apply(delta.split(into: 2)[1])
    let session = try await hub().makeSession { _ in }
    try await relay.sync(scope: "s") { await session.answer($0) }
    // With some of these limits, all records that the hub reads fit in a part.
    for limit in stride(from: 1_000, through: 5_000, by: 500) {
      let phone = try await store()
      let line = Line { await session.answer($0) }
      let result = try await phone.sync(scope: "s", bytesPerPart: limit) {
        try await line.ask($0)
      }
      #expect(result.isSynced)
      #expect(await phone.titles.count == 301)
      for answer in await line.answers {
        let version = try SyncMessage(decoding: answer).version
        #expect(version?.fieldsAhead.count == 1)
      }
    }
  }

  /// A hub can raise its limit of devices, and its devices need no setting.
  @Test func hubWithManyDevicesIsDownloaded() async throws {
    let phone = try await store()
    try await phone.write("mine", to: "mine")
    var message = SyncMessage(.answer, scope: "s")
    let save = DeviceSave(sequence: 1, time: .zero, digest: 1)
    let devices = (0..<10_100).map { DeviceID(UInt64($0) + 5_000) }
    message.part = Delta(
      changes: [],
      intervals: Dictionary(
        uniqueKeysWithValues: devices.map {
          ($0, SaveInterval(from: 0, to: save))
        }))
    var version = ReplicaVersion()
    for device in devices { version.insert(save, of: device) }
    (message.version, message.byteLimit) = (version, 1 << 20)
    let answer = message.encoded()
    _ = try await phone.sync(scope: "s") { _ in answer }
    #expect(await phone.version.covers(version))
    // With more devices than another store accepts, it still takes saves.
    let tablet = try await store()
    try await tablet.write("other", to: "other")
    var request = SyncMessage(.request, scope: "s")
    (request.device, request.version) = (await tablet.device, version)
    request.part = try await tablet.delta(since: ReplicaVersion())
    let taken = try SyncMessage(
      decoding: await phone.answer(request.encoded(), scope: "s"))
    #expect(taken.refusal == .full)
    // This device is known, so nothing is added.
    let known = try await ReplicaStore.inMemory(
      schema: [Item.self], makeDeviceID: { devices[0] })
    try await known.save { $0[Item.self, "known"].title = "known" }
    request.device = devices[0]
    request.part = try await known.delta(since: ReplicaVersion())
    let other = try SyncMessage(
      decoding: await phone.answer(request.encoded(), scope: "s"))
    #expect(other.refusal == nil)
    #expect(await phone.titles.count == 2)
  }
}
