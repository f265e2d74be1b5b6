// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import Foundation
import RejoinStore
import Testing

@testable import Rejoin
@testable import RejoinSync

/// Engines that meet in a zone.
@Suite class ZoneRouteTests: ZoneSuite {
  @Test func savesTravelThroughZone() async throws {
    let (phone, tablet) = (try await device(), try await device())
    try await phone.write("Milk")
    #expect(server.zones(of: "anna").isEmpty)
    let sent = try await phone.sync()
    #expect(sent.isUploaded && sent.isSynced && sent.error == nil)
    #expect(server.zones(of: "anna") == ["list"])
    let received = try await tablet.sync()
    #expect(received.isUploaded && received.isSynced)
    #expect(await tablet.titles == ["Milk"])
  }

  // MARK: Zones that are deleted

  enum Deletion: CaseIterable { case byApp, inSettings }

  @Test(
    "A deleted zone is created again by `resume` only",
    arguments: Deletion.allCases)
  func zoneIsDeleted(_ how: Deletion) async throws {
    let phone = try await device(at: "phone")
    let tablet = try await device()
    for device in [phone, tablet] {
      try await device.write("Milk")
      try await device.sync()
    }
    server.deleteZone("list", of: "anna", inSettings: how == .inSettings)
    for device in [phone, tablet] {
      let status = try await device.sync()
      #expect(status.state == .needsDecision)
      #expect(status.error as? SyncRefusal == .gone)
      #expect(await device.titles == ["Milk"])
    }
    #expect(server.zones(of: "anna").isEmpty)

    // The next launch remembers it, and local records stay.
    let again = try await device(at: "phone")
    try await again.write("Bread", to: "2")
    var status = try await again.sync()
    #expect(
      status.error as? SyncRefusal == .gone && status.state == .needsDecision)
    #expect(server.zones(of: "anna").isEmpty)
    #expect(await again.titles == ["Milk", "Bread"])

    await again.engine.resume("icloud")
    status = try await again.sync()
    #expect(status.isUploaded && status.error == nil)
    #expect(server.zones(of: "anna") == ["list"])
    await tablet.engine.resume("icloud")
    status = try await tablet.sync()
    #expect(status.isSynced)
    #expect(await tablet.titles == ["Milk", "Bread"])
  }

  @Test func zoneDisappearsDuringPass() async throws {
    let phone = try await device()
    try await phone.sync()
    try await phone.write("Milk")
    let server = server
    server.set { state in
      state.fail = { call, _ in
        if call == .save { server.deleteZone("list", of: "anna") }
      }
    }
    let status = try await phone.sync()
    #expect(status.error as? SyncRefusal == .gone && !status.isUploaded)
    await phone.engine.resume("icloud")
    repair()
    #expect(try await phone.sync().isUploaded)
  }

  @Test func creationFailsAtFirstContact() async throws {
    let phone = try await device()
    try await phone.write("Milk")
    fail(.saveZone, .networkFailure)
    #expect(try await phone.sync().error as? SyncRefusal == .busy(seconds: 0))
    repair()
    #expect(try await phone.sync().isUploaded)
  }

  @Test func resumptionOutlivesFailures() async throws {
    let phone = try await device()
    try await phone.write("Milk")
    try await phone.sync()
    server.deleteZone("list", of: "anna")
    try await phone.sync()
    await phone.engine.resume("icloud")
    fail(.saveZone, .networkFailure)
    try await phone.sync()
    repair()
    #expect(try await phone.sync().isUploaded)
    // It allows one creation.
    server.deleteZone("list", of: "anna")
    #expect(try await phone.sync().error as? SyncRefusal == .gone)
  }

  /// The server can take a token of the zone that was deleted.
  @Test(arguments: [false, true]) func otherDeviceCreatedZone(accepts: Bool)
    async throws
  {
    server.set { $0.openQuestions.acceptsOldTokens = accepts }
    let (phone, tablet) = (try await device(), try await device())
    for (i, device) in [phone, tablet].enumerated() {
      try await device.write("\(i)", to: "\(i)")
      try await device.sync()
    }
    try await phone.sync()
    server.deleteZone("list", of: "anna")
    try await tablet.sync()
    await tablet.engine.resume("icloud")
    try await tablet.sync()
    // The phone did not call meanwhile, and stores its own saves again within a day.
    for _ in 0..<2 {
      clock.advance(by: 90_000_000)
      try await phone.write("\(clock.now)", to: "0")
      try await phone.sync()
    }
    let new = try await device()
    try await new.sync()
    #expect(await new.titles.count == 2)
  }

  // MARK: Accounts

  @Test func otherAccountGetsNothing() async throws {
    let phone = try await device()
    try await phone.write("Milk")
    try await phone.sync()
    for user in ["bea", nil] {
      server.signIn(user, on: phone.container)
      try await phone.write("secret")
      let calls = try await calls {
        let status = try await phone.sync()
        #expect(status.error as? SyncRefusal == .wrongScope)
        #expect(status.state == .needsDecision)
      }
      // The second time, the route waits for the app.
      #expect(calls == (user == nil ? [] : [.account]))
      #expect(server.zones(of: "bea").isEmpty)
      // The records stay with the first account.
      await phone.engine.resume("icloud")
      let resumed = try await phone.sync()
      #expect(resumed.error as? SyncRefusal == .wrongScope)
    }
    server.signIn("anna", on: phone.container)
    await phone.engine.resume("icloud")
    #expect(try await phone.sync().isUploaded)
    #expect(await phone.titles == ["secret"])
    #expect(server.zones(of: "bea").isEmpty)
  }

  @Test func deviceHasNoAccount() async throws {
    let phone = try await device(of: nil)
    try await phone.write("Milk")
    let status = try await phone.sync()
    #expect(status.error as? SyncRefusal == .wrongScope)
    server.signIn("anna", on: phone.container)
    await phone.engine.resume("icloud")
    #expect(try await phone.sync().isUploaded)
  }

  @Test func accountIsRememberedByTheNextLaunch() async throws {
    let phone = try await device(at: "phone")
    try await phone.write("Milk")
    try await phone.sync()
    let again = try await device(of: "bea", at: "phone")
    #expect(try await again.sync().error as? SyncRefusal == .wrongScope)
    #expect(server.zones(of: "bea").isEmpty)
  }

  /// The user can change the account at any time, also in the middle of a pass.
  @Test(arguments: [StandInServer.Call.changes, .saveZone])
  func accountChangesDuringPass(_ call: StandInServer.Call) async throws {
    let other = try await device(of: "bea")
    try await other.write("of Bea")
    try await other.sync()
    let phone = try await device()
    try await phone.write("secret")
    let (server, container) = (server, phone.container)
    server.set { state in
      state.failAfter = { kind, _ in
        if kind == call { server.signIn("bea", on: container) }
      }
      // The first contact creates the zone.
      state.fail = { kind, _ in
        if kind == .changes, call == .saveZone {
          server.signIn("anna", on: container)
        }
      }
    }
    _ = try? await phone.sync()
    repair()
    try await other.sync()
    #expect(await other.titles == ["of Bea"])
    server.signIn("anna", on: container)
    await phone.engine.resume("icloud")
    #expect(try await phone.sync().isUploaded)
  }

  @Test func accountChangesBeforeZoneIsCreated() async throws {
    let phone = try await device()
    try await phone.write("secret")
    let (server, container) = (server, phone.container)
    server.set { state in
      state.fail = { call, _ in
        if call == .changes { server.signIn("eve", on: container) }
      }
    }
    #expect(try await phone.sync().error as? SyncRefusal == .wrongScope)
    #expect(server.zones(of: "eve").isEmpty)
    repair()
    server.signIn("anna", on: container)
    await phone.engine.resume("icloud")
    #expect(try await phone.sync().isUploaded)
  }

  /// A process that is killed in its first pass leaves the account to the next one.
  @Test func accountIsKnownAfterKilledPass() async throws {
    let phone = try await device(at: "phone")
    try await phone.write("secret")
    let (server, folder) = (server, folder)
    server.set { state in
      state.failAfter = { call, _ in
        guard call == .save else { return }
        for suffix in ["", "-wal", "-shm"] {
          try? FileManager.default.copyItem(
            at: folder.appending(path: "phone" + suffix),
            to: folder.appending(path: "killed" + suffix))
        }
      }
    }
    try await phone.sync()
    repair()
    let killed = try await device(of: "bea", at: "killed")
    #expect(try await killed.sync().error as? SyncRefusal == .wrongScope)
    #expect(server.zones(of: "bea").isEmpty)
    server.signIn("anna", on: killed.container)
    server.deleteZone("list", of: "anna", inSettings: true)
    await killed.engine.resume("icloud")
    #expect(try await killed.sync().error as? SyncRefusal == .gone)
    #expect(server.zones(of: "anna").isEmpty)
  }

  @Test func resumptionForAnotherReasonCreatesNoZone() async throws {
    let phone = try await device()
    try await phone.write("Milk")
    try await phone.sync()
    server.set { $0.quota = 0 }
    try await phone.write("Bread", to: "2")
    #expect(try await phone.sync().uploadRefusal == .full)
    await phone.engine.resume("icloud")
    server.deleteZone("list", of: "anna")
    #expect(try await phone.sync().error as? SyncRefusal == .gone)
    #expect(server.zones(of: "anna").isEmpty)
  }

  @Test func savesAreUnsentWithoutZone() async throws {
    let phone = try await device(at: "phone")
    try await phone.write("Milk")
    #expect(try await phone.sync().isUploaded)
    server.deleteZone("list", of: "anna", inSettings: true)
    var status = try await phone.sync()
    #expect(!status.isUploaded && !status.isSynced && status.unsentSaves == 1)
    let again = try await device(at: "phone")
    #expect(await again.engine.publish().first?.isUploaded == false)
    await again.engine.resume("icloud")
    status = try await again.sync()
    #expect(status.error as? SyncRefusal == .gone && !status.isUploaded)
  }

  @Test func storageIsUsedByAnotherAccount() async throws {
    let phone = try await device()
    try await phone.write("Milk")
    // The second list has the names of the first pass.
    for _ in 0..<2 { try await phone.sync() }
    server.signIn("bea", on: phone.container)
    let other = try await device(of: "bea")
    try await other.write("of Bea")
    try await other.sync()
    await phone.engine.stop()
    let store = try await store()
    let moved = SyncEngine(
      store, routes: [SyncRoute("other", scope: "s", objects: phone.storage)],
      time: time)
    #expect(await moved.sync().first?.isSynced == true)
    let titles = await store.read { $0.records(of: ZoneNote.self).map(\.title) }
    #expect(titles == ["of Bea"])
    #expect(server.zones(of: "bea") == ["list"])
  }

  // MARK: Refusals

  /// A member who may only read cannot delete, and does not try again and again.
  @Test func readerLeavesDeletionsToOthers() async throws {
    let owner = try await device()
    try await owner.sync()
    fail(.delete, .internalError)
    try await owner.write("Milk")
    try await owner.sync()
    try await owner.write("Bread", to: "2")
    try await owner.sync()
    repair()
    server.share("list", of: "anna", with: "bea", .readOnly)
    let reader = try await device(of: "bea", owner: "anna")
    let first = try await calls { try await reader.sync() }
    #expect(first.contains(.delete))
    let idle = try await calls { try await reader.sync() }
    #expect(idle == [.account, .changes])
  }

  @Test func readerLeavesDamageToOthers() async throws {
    let owner = try await device()
    try await owner.write("Milk")
    try await owner.sync()
    let name = try #require(records.first { $0.hasSuffix(".rejoin") })
    server.change(name, in: "list", of: "anna") {
      $0.assets["bytes0"]?[20] ^= 1
    }
    server.share("list", of: "anna", with: "bea", .readOnly)
    let reader = try await device(of: "bea", owner: "anna")
    for _ in 0..<3 {
      try await reader.sync()
      clock.advance(by: 7_200_000)
    }
    let idle = try await calls { try await reader.sync() }
    #expect(idle == [.account, .changes])
  }

  @Test(arguments: [StandInServer.Call.changes, .delete])
  func callsCanIgnoreCancellation(_ call: StandInServer.Call) async throws {
    let storage = try await storage()
    let names = (0..<450).map { Self.name($0) }
    for name in names { try await storage.put(name, [1]) }
    server.set { state in
      state.openQuestions.ignoresCancellation = true
      state.calls = []
      state.failAfter = { kind, _ in
        if kind == call { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    let task = Task {
      if call == .delete { try await storage.delete(names) }
      return try await storage.list().count
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(server.set { $0.calls.count { $0 == call } } == 1)
  }

  /// A list of a former zone must not make a device delete objects of the new one.
  @Test func objectsOfNewZoneStay() async throws {
    server.set { $0.openQuestions.acceptsOldTokens = true }
    for _ in 0..<20 {
      server.deleteZone("list", of: "anna")
      let (phone, tablet, third) = (
        try await device(), try await device(), try await device()
      )
      try await tablet.write("Milk")
      try await tablet.sync()
      try await phone.sync()
      server.deleteZone("list", of: "anna")
      try await tablet.sync()
      await tablet.engine.resume("icloud")
      try await third.write("Bread", to: "2")
      try await third.sync()
      #expect(try await tablet.sync().isUploaded)
      for _ in 0..<3 { try await phone.sync() }
      let new = try await device()
      try await new.sync()
      #expect(await new.titles == ["Milk", "Bread"])
    }
  }

  @Test func fullAccountStillDownloads() async throws {
    let (phone, tablet) = (try await device(), try await device())
    try await phone.write("Milk")
    try await phone.sync()
    server.set { $0.quota = 0 }
    try await tablet.write("Bread", to: "2")
    let status = try await tablet.sync()
    #expect(status.uploadRefusal == .full && status.error == nil)
    #expect(status.unsentSaves == 1)
    #expect(await tablet.titles == ["Milk", "Bread"])
    server.set { $0.quota = nil }
    await tablet.engine.resume("icloud")
    #expect(try await tablet.sync().isUploaded)
  }

  @Test func fileThatTheServerRefusesEndsTheUpload() async throws {
    let phone = try await device()
    server.set { $0.openQuestions.assetsPerRecord = (1, .invalidArguments) }
    let text = String(repeating: "x", count: 12 << 20)
    try await phone.store.save { transaction in
      for i in 0..<3 { transaction[ZoneNote.self, "\(i)"].title = text }
    }
    let status = try await phone.sync()
    #expect(status.uploadRefusal == .tooLarge && status.error == nil)
    #expect(!status.isUploaded)
  }

  // MARK: Sharing

  @Test func ownerWriterAndReader() async throws {
    let owner = try await device()
    try await owner.write("Milk")
    try await owner.sync()
    server.share("list", of: "anna", with: "bea", .readWrite)
    server.share("list", of: "anna", with: "cem", .readOnly)
    let writer = try await device(of: "bea", owner: "anna")
    let reader = try await device(of: "cem", owner: "anna")
    try await writer.write("Bread", to: "2")
    #expect(try await writer.sync().isUploaded)
    try await reader.write("Salt", to: "3")
    var status = try await reader.sync()
    #expect(status.uploadRefusal == .denied && status.error == nil)
    #expect(status.unsentSaves == 1)
    #expect(await reader.titles == ["Milk", "Bread", "Salt"])

    // The download continues.
    try await owner.write("Tea", to: "4")
    try await owner.sync()
    try await reader.sync()
    try await writer.sync()
    #expect(await reader.titles == ["Milk", "Bread", "Salt", "Tea"])
    for device in [owner, writer] {
      try await device.sync()
      #expect(await device.titles == ["Milk", "Bread", "Tea"])
    }

    // A reader who becomes a writer uploads the edits.
    server.share("list", of: "anna", with: "cem", .readWrite)
    await reader.engine.resume("icloud")
    status = try await reader.sync()
    #expect(status.isUploaded)
    try await owner.sync()
    #expect(await owner.titles.contains("Salt"))
  }

  @Test func ownerStopsSharing() async throws {
    let owner = try await device()
    try await owner.write("Milk")
    try await owner.sync()
    server.share("list", of: "anna", with: "bea", .readWrite)
    let writer = try await device(of: "bea", owner: "anna")
    try await writer.sync()
    server.share("list", of: "anna", with: "bea", .none)
    try await writer.write("Bread", to: "2")
    for _ in 0..<2 {
      let calls = try await calls {
        let status = try await writer.sync()
        #expect(status.error as? SyncRefusal == .gone)
        #expect(status.state == .needsDecision)
      }
      #expect(!calls.contains(.saveZone))
      await writer.engine.resume("icloud")
    }
    #expect(await writer.titles == ["Milk", "Bread"])
    #expect(server.zones(of: "bea").isEmpty)
  }

  @Test func zoneInSharedDatabaseIsNeverCreated() async throws {
    let writer = try await device(of: "bea", owner: "anna")
    var status: SyncStatus?
    let calls = try await calls { status = try await writer.sync() }
    #expect(status?.error as? SyncRefusal == .gone)
    #expect(!calls.contains(.saveZone))
  }

  // MARK: Figures

  @Test func idlePassAsksForAccountAndChanges() async throws {
    let devices = [try await device(), try await device(), try await device()]
    for round in 0..<3 {
      for (i, device) in devices.enumerated() {
        try await device.write("\(round)", to: "\(i)")
        try await device.sync()
      }
    }
    for device in devices { try await device.sync() }
    for device in devices { try await device.sync() }
    let staged = server.set(\.stagedCount)
    for device in devices {
      let idle = try await calls { try await device.sync() }
      #expect(idle == [.account, .changes])
    }
    #expect(server.set(\.stagedCount) == staged)
  }

  @Test func saveNeedsTwoCallsUntilItIsThere() async throws {
    let phone = try await device()
    try await phone.sync()
    try await phone.write("Milk")
    try await phone.sync()
    try await phone.write("Bread", to: "2")
    let calls = try await calls { try await phone.sync() }
    // The last two delete what the new object contains.
    #expect(
      calls == [.account, .changes, .account, .save, .records, .delete])
  }

  @Test func savesAreFewRecordsAtTheEnd() async throws {
    let phone = try await device()
    for i in 0..<1_000 {
      try await phone.write("\(i)", to: "\(i)")
      try await phone.sync()
    }
    #expect(records.count <= 12, "\(records.count)")
  }

  @Test func newDeviceAsksForEachObjectOnce() async throws {
    let storage = try await storage()
    for i in 0..<100 {
      let replica = Replica(
        device: DeviceID(UInt64(i + 1)), schema: [ZoneNote.self],
        wallClock: WallClock { 1 }, makeDeviceID: { DeviceID(0) })
      try replica.save { transaction in
        for j in 0..<100 {
          transaction[ZoneNote.self, "\(i)-\(j)"].title = "\(j)"
        }
      }
      let part = try #require(
        replica.delta(ofSavesBy: replica.device, after: 0))
      var message = SyncMessage(.object, scope: "s")
      (message.device, message.part) = (replica.device, part)
      let interval = try #require(part.intervals[replica.device])
      let name = ObjectName(replica.device, .saves(interval), nonce: UInt64(i))
      try await storage.put("\(name)", message.encoded())
    }
    let new = try await device()
    var status: SyncStatus?
    let calls = try await calls { status = try await new.sync() }
    #expect(status?.isSynced == true)
    #expect(await new.titles.count == 10_000)
    #expect(calls.count <= 110, "\(calls.count)")
  }
}
