// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Peers that lie, by the names of the attacks in *How an exchange works*.
@Suite class HostilePeerTests: SyncSuite {
  private func message(
    _ kind: SyncMessage.Kind, _ version: ReplicaVersion, _ part: Delta? = nil,
    of device: DeviceID? = DeviceID(66)
  ) -> [UInt8] {
    var message = SyncMessage(kind, scope: "s")
    (message.device, message.version, message.part) = (device, version, part)
    message.byteLimit = 1 << 20
    return message.encoded()
  }

  private func replica(
    _ device: UInt64, _ records: Int = 0, titles: String = "title"
  ) throws -> Replica {
    let replica = Replica(
      device: DeviceID(device), schema: [Item.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(99) })
    if records > 0 {
      try replica.save { transaction in
        for i in 0..<records {
          transaction[Item.self, "\(i)"].title = "\(titles) \(i)"
        }
      }
    }
    return replica
  }

  /// H1: a peer claims to have everything, with other digests or huge numbers.
  @Test func lieAboutVersionFlagsNoDevice() async throws {
    let phone = try await store()
    try await phone.fill(10)
    let device = await phone.device
    let before = await phone.version
    for digest in [0, 5, UInt64.max] {
      var lie = ReplicaVersion()
      lie.insert(
        DeviceSave(sequence: 1, time: .zero, digest: digest), of: device)
      lie.insert(
        DeviceSave(sequence: .max, time: .zero, digest: digest),
        of: DeviceID(7))
      let answer = message(.answer, lie)
      _ = try await phone.sync(scope: "s") { _ in answer }
      _ = await phone.answer(message(.request, lie), scope: "s")
    }
    #expect(await phone.version.forkedDevices.isEmpty)
    #expect(await phone.device == device)
    #expect(await phone.version[device] == before[device])
    // An honest peer gets everything.
    let tablet = try await store()
    try await tablet.sync(scope: "s") { await phone.answer($0, scope: "s") }
    #expect(await tablet.titles.count == 10)
  }

  /// H2: a version with a later save of this device costs a device ID for the next
  /// save, and no content.
  @Test func lieAboutOwnSaveTakesNewDevice() async throws {
    let phone = try await store()
    try await phone.fill(10)
    let device = await phone.device
    var lie = ReplicaVersion()
    lie.insert(
      DeviceSave(sequence: 9, time: .zero, digest: 1), of: device)
    let answer = message(.answer, lie)
    let result = try await phone.sync(scope: "s") { _ in answer }
    #expect(result.report.lastSaveBeforeRollback != nil)
    try await phone.write("more", to: "more")
    #expect(await phone.device != device)
    #expect(await phone.titles.count == 11)
  }

  /// H4: a peer that sends the same part forever, or one whose version rises and
  /// falls, does not keep a call running.
  @Test func uselessPartsEndCall() async throws {
    let phone = try await store()
    try await phone.fill(300)
    let liar = try replica(66, 3)
    let part = try #require(liar.delta())
    var claim = liar.version
    let count = Locked(0)
    var versions = [claim]
    claim.insert(
      DeviceSave(sequence: 1_000, time: .zero, digest: 1), of: DeviceID(5))
    versions.append(claim)
    let answers = versions.map { message(.answer, $0, part) }
    _ = try await phone.sync(scope: "s", bytesPerPart: 300) { _ in
      let number = count.withLock {
        $0 += 1; return $0
      }
      if number > 100 { throw CancellationError() }
      return answers[number % 2]
    }
    #expect(count.withLock { $0 } < 10)
  }

  /// H5: more records or devices than a hub accepts.
  @Test func partAboveLimitsIsNotApplied() async throws {
    let (phone, hub) = (try await store(), try await hub())
    let session = hub.makeSession { _ in }
    let liar = try replica(66, 2_001)
    let many = try #require(liar.delta())
    let answer = message(.answer, liar.version, many)
    await #expect(throws: StoreError.tooManyRecords(2_001, limit: 2_000)) {
      try await phone.sync(scope: "s") { _ in answer }
    }
    func part(_ devices: Range<UInt64>) -> Delta {
      let save = DeviceSave(sequence: 1, time: .zero, digest: 1)
      return Delta(
        changes: [],
        intervals: Dictionary(
          uniqueKeysWithValues: devices.map {
            (DeviceID($0), SaveInterval(from: 0, to: save))
          }))
    }
    for (part, refusal) in [
      (many, .tooLarge), (part(0..<10_001), .full),
    ] as [(Delta, SyncRefusal)] {
      let request = message(.request, ReplicaVersion(), part)
      for answer in [
        await phone.answer(request, scope: "s"), await session.answer(request),
      ] {
        let answer = try SyncMessage(decoding: answer)
        #expect(answer.refusal == refusal && answer.version != nil)
      }
    }
    #expect(await phone.titles == [])
    #expect(await phone.version == ReplicaVersion())
    // The second half of the devices does not fit.
    let half = message(.answer, ReplicaVersion(), part(0..<6_000))
    _ = try await phone.sync(scope: "s") { _ in half }
    let rest = message(.answer, ReplicaVersion(), part(6_000..<12_000))
    await #expect(throws: StoreError.tooManyDevices(limit: 10_000)) {
      try await phone.sync(scope: "s") { _ in rest }
    }
    #expect(await phone.version.vectorClock.entries.count == 6_000)
  }

  /// H6: an answer to a store or a hub that is not a request.
  @Test func answerIsNoRequest() async throws {
    let (phone, hub) = (try await store(), try await hub())
    let liar = try replica(66, 3)
    for kind in [SyncMessage.Kind.answer, .object] {
      let isAnswer = kind == .answer
      let bytes = message(
        kind, isAnswer ? liar.version : ReplicaVersion(),
        isAnswer ? liar.delta() : nil)
      for answer in [
        await phone.answer(bytes, scope: "s"),
        await hub.makeSession { _ in }.answer(bytes),
      ] {
        #expect(try SyncMessage(decoding: answer).refusal == .damaged)
      }
    }
    #expect(await phone.titles == [])
  }

  /// H7: the version of another user's device is not recorded.
  @Test func versionOfOtherUserIsNotRecorded() async throws {
    let hub = try await hub()
    let (phone, victim) = (try await store(), try await store())
    for store in [phone, victim] {
      try await store.write("mine", to: "\(UUID())")
      try await store.sync(scope: "s") {
        await hub.makeSession { _ in }.answer($0)
      }
    }
    let own = await phone.device
    let recorded = Locked([DeviceID]())
    let session = hub.makeSession { request in
      guard case .recordVersion(_, let device) = request else { return }
      if device != own { throw SyncRefusal.denied }
      recorded.withLock { $0.append(device) }
    }
    let full = try await session.version(of: "s")
    let request = message(.request, full, of: await victim.device)
    let answer = try SyncMessage(decoding: await session.answer(request))
    #expect(answer.refusal == nil && answer.version != nil)
    #expect(recorded.withLock { $0 }.isEmpty)
  }
}
