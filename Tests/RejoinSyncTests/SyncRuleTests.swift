// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore
@testable import RejoinSync

/// The rules of the article *How an exchange works*, one after another.
@Suite class SyncRuleTests: SyncSuite {
  /// Rule 1: the first request has no part, unless a version is assumed.
  @Test func firstRequestHasPartOnlyWithHint() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.write("Milk")
    let first = Line { await tablet.answer($0, scope: "s") }
    let result = try await phone.sync(scope: "s") { try await first.ask($0) }
    #expect(result.isSynced && result.isUploaded)
    let parts = try await first.parts
    #expect(parts.map { $0 == nil } == [true, false])
    try await phone.write("Bread", to: "2")
    let second = Line { await tablet.answer($0, scope: "s") }
    let again = try await phone.sync(
      scope: "s", assuming: result.peerVersion
    ) { try await second.ask($0) }
    #expect(again.isSynced)
    #expect(try await second.parts.map { $0 == nil } == [false])
    #expect(await tablet.titles == ["Milk", "Bread"])
  }

  /// Rule 1: a wrong assumption costs an exchange and loses nothing.
  @Test func wrongHintChangesNothing() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.write("Milk")
    let assumed = await phone.version
    try await phone.write("Bread", to: "2")
    let result = try await phone.sync(scope: "s", assuming: assumed) {
      await tablet.answer($0, scope: "s")
    }
    #expect(result.isSynced)
    #expect(await tablet.titles == ["Milk", "Bread"])
  }

  /// Rule 2: a server that echoes does not make a save *uploaded*.
  @Test func echoIsNoAnswer() async throws {
    let phone = try await store()
    try await phone.write("Milk")
    let before = await phone.version
    await #expect(throws: WireError.self) {
      try await phone.sync(scope: "s") { $0 }
    }
    #expect(await phone.version == before)
  }

  /// Rule 2: the name of the scope in an answer must have the same bytes.
  @Test(arguments: ["t", "", "cafe\u{301}"])
  func answerOfOtherScopeIsRejected(_ name: String) async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.write("Milk")
    await #expect(throws: WireError.self) {
      try await phone.sync(scope: "caf\u{e9}") { request in
        var request = try SyncMessage(decoding: request)
        let copy = SyncMessage(.request, scope: name)
        let (device, version) = (request.device, request.version)
        request = copy
        (request.device, request.version) = (device, version)
        return await tablet.answer(request.encoded(), scope: name)
      }
    }
    #expect(await phone.titles == [])
  }

  /// Rule 3: the version of an answer has the part of its request, which is on
  /// disk.
  @Test func answerFollowsDurablePart() async throws {
    let (phone, tablet) = (try await store(), try await store("tablet"))
    try await phone.write("Milk")
    let result = try await phone.sync(scope: "s") {
      await tablet.answer($0, scope: "s")
    }
    #expect(result.isUploaded)
    // The tablet loses its memory.
    let again = try await store("tablet")
    #expect(await again.version.covers(phone.version))
  }

  /// Rule 4: a smaller version replaces the one before, so a restored server gets
  /// the lost saves again.
  @Test func restoredPeerGetsSavesAgain() async throws {
    let (phone, hub) = (try await store(), try await hub("a"))
    let restored = try await self.hub("b")
    try await phone.write("Milk")
    try await phone.fill(200)
    let number = Locked(0)
    // The database is restored in the middle of the upload.
    let result = try await phone.sync(scope: "s", bytesPerPart: 1_000) {
      let isFirst =
        number.withLock {
          $0 += 1; return $0
        } < 3
      let session = (isFirst ? hub : restored).makeSession { _ in }
      return await session.answer($0)
    }
    #expect(result.isUploaded)
    let version = try await restored.makeSession { _ in }.version(of: "s")
    #expect(version.covers(await phone.version))
  }

  /// Rule 5: the last part completes the download, and no request confirms it.
  @Test func lastPartEndsCall() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.fill(200)
    let line = Line { await tablet.answer($0, scope: "s") }
    let result = try await phone.sync(scope: "s", bytesPerPart: 400) {
      try await line.ask($0)
    }
    #expect(result.isSynced)
    let answers = try await line.answers.map { try SyncMessage(decoding: $0) }
    #expect(answers.count > 3)
    #expect(answers.allSatisfy { $0.part != nil })
  }

  /// Rule 5: a peer that claims saves and sends nothing new does not keep a call
  /// running.
  @Test func partThatMovesNothingEndsCall() async throws {
    let (phone, liar) = (try await store(), try await store())
    try await liar.write("Milk")
    let old = try await liar.answer(
      request(of: store()), scope: "s")
    try await liar.write("Bread")
    let claimed = await liar.version
    let count = Locked(0)
    let result = try await phone.sync(scope: "s") { _ in
      count.withLock { $0 += 1 }
      var answer = try SyncMessage(decoding: old)
      answer.version = claimed
      return answer.encoded()
    }
    #expect(!result.isSynced)
    #expect(count.withLock { $0 } == 2)
  }

  private func request(of store: ReplicaStore) async throws -> [UInt8] {
    var request = SyncMessage(.request, scope: "s")
    (request.device, request.version) = (
      await store.device, await store.version
    )
    request.byteLimit = 1 << 20
    return request.encoded()
  }

  /// Rule 6: a part that moved nothing is not sent again.
  @Test func partIsNotRepeated() async throws {
    let phone = try await store()
    try await phone.write("Milk")
    let peer = try await store()
    let line = Line { request in
      // The peer ignores all parts.
      var request = try SyncMessage(decoding: request)
      request.part = nil
      return await peer.answer(request.encoded(), scope: "s")
    }
    let result = try await phone.sync(scope: "s") { try await line.ask($0) }
    #expect(!result.isUploaded)
    #expect(try await line.parts.map { $0 == nil } == [true, false])
  }

  /// Rule 6: two servers that lag answer by turns, and the call ends.
  @Test func secondFallOfVersionEndsUpload() async throws {
    let phone = try await store()
    let hubs = [try await hub("a"), try await hub("b")]
    try await phone.fill(300)
    // Both have saves that the other one lacks.
    for (i, hub) in hubs.enumerated() {
      let other = try await store()
      try await other.write("only \(i)", to: "x\(i)")
      _ = try await other.sync(scope: "s") {
        await hub.makeSession { _ in }.answer($0)
      }
    }
    let count = Locked(0)
    let result = try await phone.sync(scope: "s", bytesPerPart: 400) {
      request in
      let number = count.withLock {
        $0 += 1; return $0
      }
      if number > 300 { throw CancellationError() }
      return await hubs[number % 2].makeSession { _ in }.answer(request)
    }
    #expect(!result.isUploaded)
    #expect(count.withLock { $0 } < 20)
  }

  /// Rule 9: the versions that devices show let deletions be purged.
  @Test func shownVersionsAreRecorded() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.write("Milk")
    func exchange() async throws {
      for (a, b) in [(phone, tablet), (tablet, phone)] {
        try await a.sync(scope: "s") { await b.answer($0, scope: "s") }
      }
    }
    try await exchange()
    try await tablet.write("Bread", to: "2")
    try await exchange()
    try await phone.save { $0[Item.self, "1"].delete() }
    try await exchange()
    let cut = await phone.version.stabilityCut
    #expect(cut[await phone.device] == 2)
  }

  /// Rule 9: a cut that comes with the last part counts.
  @Test func cutOfLastPartIsRecorded() async throws {
    let (hub, phone, tablet) = (
      try await hub(), try await store(), try await store()
    )
    let session = hub.makeSession { _ in }
    try await phone.write("Milk")
    try await tablet.write("Bread", to: "2")
    try await phone.save { $0[Item.self, "1"].delete() }
    for _ in 0..<3 {
      for store in [phone, tablet] {
        try await store.sync(scope: "s") { await session.answer($0) }
      }
    }
    let cut = try await session.version(of: "s").stabilityCut
    #expect(cut[await phone.device] == 2)
    let late = try await store()
    let line = Line { await session.answer($0) }
    try await late.sync(scope: "s") { try await line.ask($0) }
    #expect(await line.requests.count == 1)
    #expect(await late.version.stabilityCut == cut)
  }

  /// A part is at most as large as the other side wants, in both directions.
  @Test func partsHaveWantedSize() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.fill(200)
    let line = Line { request in
      let answer = await tablet.answer(request, scope: "s")
      var message = try SyncMessage(decoding: answer)
      message.byteLimit = 500
      return message.encoded()
    }
    let result = try await phone.sync(scope: "s") { try await line.ask($0) }
    #expect(result.isUploaded)
    // The first part follows the first answer.
    for part in try await line.parts.compactMap({ $0 }) {
      #expect(part.encoded().count < 700)
    }
    let other = try await store()
    let back = Line { await tablet.answer($0, scope: "s") }
    try await other.sync(scope: "s", bytesPerPart: 500) {
      try await back.ask($0)
    }
    for answer in await back.answers { #expect(answer.count < 1_200) }
    #expect(await back.answers.count > 5)
  }

  /// Rule 10: a store that answers shows only saves that its token covers.
  @Test func restoreAfterAnswerTakesNewDevice() async throws {
    var phone = try await store("phone")
    try await phone.write("one")
    try await phone.backup(to: path("backup"))
    try await phone.write("two")
    // The other side claims to have everything, so the answer has no part.
    var request = SyncMessage(.request, scope: "s")
    (request.device, request.version) = (DeviceID(7), await phone.version)
    let answer = try SyncMessage(
      decoding: await phone.answer(request.encoded(), scope: "s"))
    #expect(answer.part == nil && answer.version != nil)
    let device = await phone.device
    phone = try await restored(phone)
    #expect(await phone.device != device)
  }

  /// Puts the backup of the phone in its place.
  private func restored(_ phone: ReplicaStore) async throws -> ReplicaStore {
    try await phone.close()
    for end in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path("phone" + end))
    }
    try FileManager.default.copyItem(
      atPath: path("backup"), toPath: path("phone"))
    return try await store("phone")
  }

  /// Rule 10: after a restore between a call and the next save, the device has a
  /// new ID.
  @Test func restoreAfterCallTakesNewDevice() async throws {
    let tablet = try await store()
    var phone = try await store("phone")
    try await phone.write("one")
    try await phone.backup(to: path("backup"))
    try await phone.write("two")
    // Only the version with the second save leaves, and no part.
    await #expect(throws: Lost.self) {
      try await phone.sync(scope: "s") { request in
        _ = await tablet.answer(request, scope: "s")
        throw Lost()
      }
    }
    let device = await phone.device
    phone = try await restored(phone)
    #expect(await phone.device != device)
  }

  private struct Lost: Error {}

  /// Rule 11: each request of a transfer is answered by another process of the hub.
  @Test func anyProcessOfHubContinues() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.fill(500)
    var hubs: [Hub] = []
    for _ in 0..<3 { hubs.append(try await hub()) }
    let sessions = hubs.map { $0.makeSession { _ in } }
    let count = Locked(0)
    for store in [phone, tablet] {
      let result = try await store.sync(scope: "s", bytesPerPart: 1_000) {
        let number = count.withLock {
          $0 += 1; return $0
        }
        return await sessions[number % 3].answer($0)
      }
      #expect(result.isSynced)
    }
    #expect(await tablet.titles.count == 500)
    #expect(count.withLock { $0 } > 10)
  }

  @Test func canceledTaskEndsCall() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.fill(300)
    let count = Locked(0)
    let task = Task {
      try await phone.sync(scope: "s", bytesPerPart: 1_000) { request in
        if count.withLock({
          $0 += 1; return $0
        }) == 3 {
          withUnsafeCurrentTask { $0?.cancel() }
        }
        return await tablet.answer(request, scope: "s")
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let received = await phone.titles.count
    #expect(received > 0 && received < 300)
    try await phone.sync(scope: "s") { await tablet.answer($0, scope: "s") }
    #expect(await phone.titles.count == 300)
  }
}
