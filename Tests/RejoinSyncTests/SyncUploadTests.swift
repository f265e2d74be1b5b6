// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore
@testable import RejoinSync

/// The rules for parts that a hub ignores or refuses.
@Suite class SyncUploadTests: SyncSuite {
  /// A store with some of the fields of a save of another device, which is lost.
  private func storeWithFieldsAhead(_ records: Int) async throws -> ReplicaStore
  {
    let (lost, phone) = (try await store(), try await store())
    try await lost.fill(records)
    let delta = try #require(await lost.delta(since: ReplicaVersion()))
    try await phone.apply(delta.split(into: 2)[0])
    return phone
  }

  /// Rule 7: a hub gets the fields although it shows the assumed version, because
  /// the store can have them since then.
  ///
  /// The other devices are lost.
  @Test func hintDoesNotHideFieldsAhead() async throws {
    let (phone, tablet) = (try await store(), try await store())
    let session = try await hub().makeSession { _ in }
    try await phone.write("mine", to: "mine")
    var hint: ReplicaVersion?
    for _ in 0..<4 {
      hint = try await phone.sync(scope: "s", assuming: hint) {
        await session.answer($0)
      }.peerVersion
    }
    try await tablet.write("t1", to: "t1")
    let wrong = await tablet.version
    try await tablet.write("t2", to: "t2")
    // The assumed version is wrong, so the second save leaves a gap. Then the line
    // breaks.
    _ = try? await tablet.sync(scope: "s", assuming: wrong) { request in
      _ = await phone.answer(request, scope: "s")
      throw CancellationError()
    }
    #expect(await phone.version.fieldsAhead.count == 1)
    let result = try await phone.sync(scope: "s", assuming: hint) {
      await session.answer($0)
    }
    #expect(result.isSynced)
    let newcomer = try await store()
    for _ in 0..<2 {
      try await newcomer.sync(scope: "s") { await session.answer($0) }
    }
    #expect(await Set(newcomer.titles) == ["mine", "t2"])
  }

  /// Rule 7: a hub that refuses fields ahead gets them once in a call.
  @Test func refusedFieldsAheadAreSentOnce() async throws {
    let (phone, hub) = (try await storeWithFieldsAhead(10), try await hub())
    try await phone.write("mine", to: "mine")
    let own = await phone.ownDevices
    let session = hub.makeSession { request in
      guard case .write(_, let write) = request else { return }
      if !write.devices.isSubset(of: own) { throw SyncRefusal.denied }
    }
    var hint: ReplicaVersion?
    for expected in [2, 1, 1] {
      let line = Line { await session.answer($0) }
      let result = try await phone.sync(scope: "s", assuming: hint) {
        try await line.ask($0)
      }
      hint = result.peerVersion
      #expect(result.isSynced)
      #expect(try await line.parts.compactMap { $0 }.count == expected)
    }
  }

  /// Rule 7: a hub that keeps no more fields ahead gets none.
  @Test func fullHubGetsNoFieldsAhead() async throws {
    let (phone, hub) = (try await storeWithFieldsAhead(600), try await hub())
    let session = hub.makeSession { _ in }
    for isFirst in [true, false] {
      let line = Line { await session.answer($0) }
      try await phone.sync(scope: "s") { try await line.ask($0) }
      let parts = try await line.parts.compactMap { $0 }
      #expect(parts.isEmpty == !isFirst)
    }
    let listed = try await session.version(of: "s").fieldsAhead.count
    #expect(listed == 256)
  }

  /// Rule 7: another device gets the fields, because it keeps all of them.
  @Test func storeGetsFieldsAhead() async throws {
    let (phone, tablet) = (
      try await storeWithFieldsAhead(10), try await store()
    )
    for _ in 0..<2 {
      let result = try await phone.sync(scope: "s") {
        await tablet.answer($0, scope: "s")
      }
      #expect(result.isSynced)
      #expect(await tablet.titles.count == 5)
    }
  }

  /// Rule 8: after a refused part, no other one is sent.
  @Test func refusedPartEndsUpload() async throws {
    let (phone, other, hub) = (
      try await store(), try await store(), try await hub()
    )
    try await other.fill(300)
    let writer = hub.makeSession { _ in }
    try await other.sync(scope: "s") { await writer.answer($0) }
    try await phone.write("mine", to: "mine")
    let reader = hub.makeSession { request in
      if case .write = request { throw SyncRefusal.denied }
    }
    let line = Line { request in
      // The next part would be another one.
      try await phone.write("\(request.count)", to: "\(UUID())")
      return await reader.answer(request)
    }
    let result = try await phone.sync(scope: "s", bytesPerPart: 1_000) {
      try await line.ask($0)
    }
    #expect(result.uploadRefusal == .denied)
    #expect(try await line.parts.compactMap { $0 }.count == 1)
    #expect(await line.requests.count > 3)
  }

  /// Rule 8: a read-only member downloads everything.
  @Test func refusedPartDoesNotEndDownload() async throws {
    struct Secret: Error {}
    let (phone, other, hub) = (
      try await store(), try await store(), try await hub()
    )
    try await other.fill(300)
    let writer = hub.makeSession { _ in }
    try await other.sync(scope: "s") { await writer.answer($0) }
    try await phone.save { transaction in
      for i in 0..<100 { transaction[Item.self, "mine \(i)"].title = "mine" }
    }
    let reader = hub.makeSession { request in
      if case .write = request { throw Secret() }
    }
    let line = Line { await reader.answer($0) }
    let result = try await phone.sync(scope: "s", bytesPerPart: 1_000) {
      try await line.ask($0)
    }
    #expect(result.uploadRefusal == .denied)
    #expect(!result.isUploaded && !result.isSynced)
    #expect(await phone.titles.count == 400)
    // One part was sent and refused.
    #expect(try await line.parts.compactMap { $0 }.count == 1)
    // The text of the app's error is not sent.
    for answer in await line.answers {
      #expect(!String(decoding: answer, as: UTF8.self).contains("Secret"))
    }
  }
}
