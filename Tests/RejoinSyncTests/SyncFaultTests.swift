// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// The faults F1 to F3, the attack H3, and a device that is lost.
@Suite class SyncFaultTests: SyncSuite {
  private struct Lost: Error {}

  /// Loses the message with a number: requests are even, and answers odd.
  private func losing(
    _ number: Int,
    _ peer: @escaping @Sendable ([UInt8]) async -> [UInt8]
  ) -> @Sendable ([UInt8]) async throws -> [UInt8] {
    let count = Locked(-2)
    return { request in
      let next = count.withLock {
        $0 += 2; return $0
      }
      if next == number { throw Lost() }
      let answer = await peer(request)
      if next + 1 == number { throw Lost() }
      return answer
    }
  }

  /// F1: a process is killed after each message of a call, and the next call goes on
  /// with another peer after the last durable part.
  @Test func callGoesOnAfterEachKill() async throws {
    let (source, relay) = (try await store(), try await store())
    try await source.fill(8)
    try await relay.sync(scope: "s") { await source.answer($0, scope: "s") }
    // The phone asks for eight parts, which are 16 messages.
    for number in 0..<16 {
      let name = "phone \(number)"
      let phone = try await store(name)
      await #expect(throws: Lost.self) {
        try await phone.sync(
          scope: "s", bytesPerPart: 1,
          asking: self.losing(number) { await source.answer($0, scope: "s") })
      }
      // What is on disk when the process is killed.
      for end in ["", "-wal", "-token"] {
        try? FileManager.default.copyItem(
          atPath: path(name + end), toPath: path("\(name) after" + end))
      }
      let after = try await store("\(name) after")
      let line = Line { await relay.answer($0, scope: "s") }
      let result = try await after.sync(scope: "s", bytesPerPart: 1) {
        try await line.ask($0)
      }
      #expect(result.isSynced)
      // Each part that was on disk is not sent again.
      #expect(await line.requests.count == 8 - number / 2)
      #expect(
        try await after.delta(since: ReplicaVersion())
          == source.delta(since: ReplicaVersion()))
    }
  }

  /// F1: repeated and late messages have no effect but bytes.
  @Test func repeatedMessagesChangeNothing() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.fill(8)
    try await tablet.write("tablet", to: "tablet")
    let line = Line { await tablet.answer($0, scope: "s") }
    try await phone.sync(scope: "s", bytesPerPart: 1) { try await line.ask($0) }
    let (end, other) = await (
      phone.version.vectorClock, tablet.version.vectorClock
    )
    for request in await line.requests.reversed() {
      _ = await tablet.answer(request, scope: "s")
    }
    let answers = await line.answers
    let late = Locked(0)
    try await phone.sync(scope: "s") { request in
      let number = late.withLock {
        $0 += 1; return $0
      }
      return number <= answers.count
        ? answers[answers.count - number]
        : await tablet.answer(request, scope: "s")
    }
    #expect(await phone.version.vectorClock == end)
    #expect(await tablet.version.vectorClock == other)
  }

  /// F2: a replica of the server that lags shows what it lacks, and gets it.
  @Test func laggingServerGetsSaves() async throws {
    let phone = try await store()
    let servers = [try await hub("a"), try await hub("b")]
    try await phone.fill(20)
    let sessions = servers.map { $0.makeSession { _ in } }
    var hint: ReplicaVersion?
    for number in 0..<4 {
      let session = sessions[number % 2]
      let result = try await phone.sync(scope: "s", assuming: hint) {
        await session.answer($0)
      }
      #expect(result.isSynced)
      hint = result.peerVersion
    }
    for session in sessions {
      #expect(try await session.version(of: "s").covers(await phone.version))
    }
  }

  /// F3: a full disk ends the call of the store that asks, and is `busy` to the
  /// other side.
  ///
  /// The stores keep what they had.
  @Test func fullDiskEndsCall() async throws {
    let (phone, tablet) = (try await store("phone"), try await store())
    try await tablet.fill(200, titles: String(repeating: "x", count: 1_000))
    try await phone.write("mine", to: "mine")
    try await phone.fillDisk()
    let before = await phone.version.vectorClock
    await #expect(throws: StoreError.self) {
      try await phone.sync(scope: "s") { await tablet.answer($0, scope: "s") }
    }
    await #expect(throws: SyncRefusal.busy(seconds: 60)) {
      try await tablet.sync(scope: "s") { await phone.answer($0, scope: "s") }
    }
    #expect(await phone.version.vectorClock == before)
    #expect(await phone.titles == ["mine"])
    try await phone.emptyDisk()
    let result = try await phone.sync(scope: "s") {
      await tablet.answer($0, scope: "s")
    }
    #expect(result.isSynced)
    #expect(await phone.titles.count == 201)
  }

  /// H3: nothing detects the end of a transfer without its fields.
  ///
  /// The store believes that it has these saves, and its own content is not touched.
  @Test func endOfTransferWithoutFieldsIsBelieved() async throws {
    let phone = try await store()
    try await phone.write("mine", to: "mine")
    var lie = ReplicaVersion()
    let save = DeviceSave(sequence: 3, time: .zero, digest: 5)
    lie.insert(save, of: DeviceID(66))
    var answer = SyncMessage(.answer, scope: "s")
    (answer.device, answer.version) = (DeviceID(66), lie)
    answer.part = Delta(
      changes: [], intervals: [DeviceID(66): SaveInterval(from: 0, to: save)])
    let bytes = answer.encoded()
    let result = try await phone.sync(scope: "s") { _ in bytes }
    #expect(await phone.version[DeviceID(66)] == save)
    #expect(!result.isUploaded)
    #expect(!result.report.hasFaults)
    #expect(await phone.titles == ["mine"])
    // A hub believes it as well.
    let session = try await hub().makeSession { _ in }
    var request = SyncMessage(.request, scope: "s")
    (request.device, request.version, request.part) = (
      DeviceID(66), lie, answer.part
    )
    let shown = try SyncMessage(
      decoding: await session.answer(request.encoded()))
    #expect(shown.version?[DeviceID(66)] == save)
  }

  /// A device is lost in the middle of its upload.
  ///
  /// A version without the saves of the incomplete transfer contains all saves that
  /// anyone has.
  @Test func lostDeviceDoesNotHoldBackSynced() async throws {
    let (lost, phone, tablet) = (
      try await store(), try await store(), try await store()
    )
    let session = try await hub().makeSession { _ in }
    try await lost.fill(8)
    await #expect(throws: Lost.self) {
      try await lost.sync(
        scope: "s", bytesPerPart: 1,
        asking: self.losing(6) { await session.answer($0) })
    }
    try await phone.write("phone", to: "phone")
    for _ in 0..<2 {
      for store in [phone, tablet] {
        let result = try await store.sync(scope: "s") {
          await session.answer($0)
        }
        #expect(result.isSynced)
      }
    }
    let hub = try await session.version(of: "s")
    // The hub has the first records of the lost device, and no whole save.
    #expect(hub[await lost.device].sequence == 0)
    #expect(!hub.prefixes.isEmpty)
    for store in [phone, tablet] {
      let version = await store.version
      #expect(version.covers(hub) && hub.covers(version))
      #expect(await store.titles.count > 1)
    }
    #expect(!hub.covers(await lost.version))
  }
}

extension ReplicaStore {
  fileprivate func fillDisk() throws {
    let pages = try scope.connection.integer("PRAGMA page_count") ?? 0
    try scope.connection.run("PRAGMA max_page_count = \(pages + 4)")
  }

  fileprivate func emptyDisk() throws {
    try scope.connection.run("PRAGMA max_page_count = 1000000")
  }
}
