// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Stores whose engines meet in a storage that lies and fails.
class FailingStorageSuite {
  let folder: String
  let time = SteppedTime()

  init() throws {
    folder = NSTemporaryDirectory() + "attack-\(UUID())"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func store(_ id: UInt64? = nil, _ name: String = "\(UUID())")
    async throws -> ReplicaStore
  {
    try await ReplicaStore(
      at: folder + "/" + name, schema: [StoredNote.self],
      makeDeviceID: { id.map { DeviceID(high: $0, low: $0) } ?? .random() })
  }
  func save(_ store: ReplicaStore, _ text: String) async throws {
    try await store.save { $0[StoredNote.self, text].title = text }
  }
  func give(_ from: ReplicaStore, _ to: ReplicaStore) async throws {
    let delta = try #require(try await from.delta(since: await to.version))
    try await to.apply(delta)
  }
  func engine(_ store: ReplicaStore, _ bin: any ObjectStorage)
    -> SyncEngine
  {
    SyncEngine(
      store, routes: [SyncRoute("bin", scope: "s", objects: bin)],
      time: time.sync)
  }

  /// Rule: each failure waits, also if a relay is due.

  func missing(_ version: ReplicaVersion, _ bin: FailingStorage) -> [String] {
    let objects = bin.names.compactMap { ObjectName($0) }
    return version.vectorClock.entries.compactMap { entry in
      var reach: UInt64 = 0
      var moved = true
      while moved {
        moved = false
        for object in objects where object.device == entry.device {
          guard let interval = object.interval else { continue }
          if interval.from <= reach, interval.to.sequence > reach {
            (reach, moved) = (interval.to.sequence, true)
          }
        }
      }
      return reach < entry.count
        ? "\(entry.device) \(reach)<\(entry.count)" : nil
    }
  }
}

@Suite(.serialized) final class StorageFaultTests: FailingStorageSuite {
  @Test func dueRelayDoesNotSkipTheWaitAfterAFailure() async throws {
    let (phone, tablet, bin) = (
      try await store(), try await store(), FailingStorage()
    )
    try await save(tablet, "a")
    try await give(tablet, phone)
    let engine = engine(phone, bin)
    await engine.start()
    await engine.sync()
    bin.with { $0.fail = { _, _ in throw Offline() } }
    time.advance(1_200_000)
    try await Task.sleep(for: .milliseconds(500))
    let lists = bin.lists
    await engine.stop()
    #expect(lists <= 3, "\(lists) passes while the time stands still")
  }

  /// Rule: a refused upload stays refused, and an engine does not spin meanwhile.
  @Test func dueRelayDoesNotSpinAfterARefusedUpload() async throws {
    let (phone, tablet, bin) = (
      try await store(), try await store(), FailingStorage()
    )
    try await save(tablet, "a")
    try await give(tablet, phone)
    bin.with {
      $0.fail = { call, _ in if call == "put" { throw SyncRefusal.denied } }
    }
    let engine = engine(phone, bin)
    await engine.start()
    await engine.sync()
    time.advance(1_200_000)
    try await Task.sleep(for: .milliseconds(500))
    let lists = bin.lists
    await engine.stop()
    #expect(lists <= 3, "\(lists) passes while the time stands still")
  }

  /// Rule 3: ten to twenty minutes after the first sight, whatever the clock did.
  @Test func relayHappensAfterTheClockWasSetBack() async throws {
    let (phone, tablet, bin) = (
      try await store(), try await store(), FailingStorage()
    )
    try await save(tablet, "a")
    try await give(tablet, phone)
    let engine = engine(phone, bin)
    await engine.sync()
    time.set(by: -365 * 86_400_000)
    await engine.sync()
    time.advance(2 * 86_400_000)
    let status = await engine.sync()
    #expect(bin.names.count == 1 && status[0].isUploaded)
  }

  /// Rule 2: a name counts until a read of it fails.
  @Test func nameWithoutAnObjectIsNoCover() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    try await save(phone, "a")
    let end = DeviceSave(sequence: 9, time: .zero, digest: 7)
    let name = ObjectName(
      await phone.device, .saves(SaveInterval(from: 0, to: end)), nonce: 1)
    bin.with { $0.extra = [("\(name)", 100)] }
    let engine = engine(phone, bin)
    var status = await engine.sync()[0]
    status = await engine.sync()[0]
    let hasSave = bin.names.contains { $0.hasSuffix(".rejoin") }
    #expect(hasSave, "nothing has the save")
    #expect(!status.isUploaded || hasSave)
  }

  /// One device's refused object must not keep other saves or the version.
  @Test func refusedRelayBlocksNothing() async throws {
    let (old, phone) = (try await store(1), try await store(2))
    let (other, bin) = (try await store(3), FailingStorage())
    try await save(old, "a")
    try await give(old, phone)
    try await save(other, "b")
    try await give(other, phone)
    let engine = engine(phone, bin)
    await engine.sync()
    time.advance(1_200_000)
    bin.with {
      $0.fail = { call, name in
        if call == "put", name.hasPrefix("0000000000000001") {
          throw SyncRefusal.tooLarge
        }
      }
    }
    try await save(phone, "own")
    #expect(await engine.sync()[0].uploadRefusal == .tooLarge)
    let devices = [2, 3].map { DeviceID(high: $0, low: $0) }
    let names = bin.names.compactMap { ObjectName($0) }
    let stored = names.filter { $0.interval != nil }.map(\.device)
    #expect(Set(stored) == Set(devices))
    #expect(names.contains { $0.interval == nil })
  }

  /// Another `identity()` than at the first contact is `wrongScope`.
  @Test func signedOutAccountIsAnotherAccount() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    bin.with { $0.account = "ann" }
    let engine = engine(phone, bin)
    await engine.sync()
    bin.with { $0.account = nil }
    try await save(phone, "a")
    await engine.sync()
    #expect(bin.names.isEmpty)
  }

  /// A forged version of the own device must not silence it permanently.
  @Test func lastNumberDoesNotSilenceTheDevice() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    try await save(phone, "a")
    let forged = ObjectName(
      await phone.device, .version(number: .max), nonce: .max)
    bin.with { $0.objects["\(forged)"] = [1, 2, 3] }
    let engine = engine(phone, bin)
    await engine.sync()
    await engine.sync()
    let versions = bin.names.filter { $0.hasSuffix(".version") }
    #expect(versions != ["\(forged)"])
  }

  @Test func relativeFolderStaysTheSame() async throws {
    let manager = FileManager.default
    let old = manager.currentDirectoryPath
    defer { manager.changeCurrentDirectoryPath(old) }
    for place in ["one", "other"] {
      try manager.createDirectory(
        atPath: "\(folder)/\(place)/shared", withIntermediateDirectories: true)
    }
    manager.changeCurrentDirectoryPath(folder + "/one")
    let storage = FolderStorage(at: "shared")
    let name = ObjectName(DeviceID(5), .version(number: 1), nonce: 1)
    try await storage.put("\(name)", [1])
    manager.changeCurrentDirectoryPath(folder + "/other")
    #expect(try await storage.list().count == 1)
  }

  /// A missing folder is an error, also in the middle of a pass.
  @Test func missingFolderIsNoDeletedObject() async throws {
    let storage = FolderStorage(at: folder + "/missing")
    let name = ObjectName(DeviceID(5), .version(number: 1), nonce: 1)
    await #expect(throws: ObjectStorageError.self) {
      _ = try await storage.get("\(name)")
    }
    await #expect(throws: ObjectStorageError.self) {
      try await storage.delete(["\(name)"])
    }
  }

  /// A damaged version is not read with each pass.
  @Test func damagedVersionIsNotReadWithEachPass() async throws {
    let (phone, bin) = (try await store(), FailingStorage(confirms: false))
    let name = ObjectName(DeviceID(5), .version(number: 1), nonce: 1)
    bin.with { $0.objects["\(name)"] = [1, 2, 3] }
    let engine = engine(phone, bin)
    await engine.sync()
    bin.with { $0.calls = [] }
    await engine.sync()
    #expect(bin.with { $0.calls } == ["list"])
  }

  /// Must be last: it kills the process.
  @Test func timeOfANoteDoesNotTrap() async throws {
    let phone = try await store()
    let id = await phone.device.hexadecimal
    try await phone.setNote(
      "objects bin", to: Array("relay \(id) \(Int64.min)".utf8))
    let engine = engine(phone, FailingStorage())
    await engine.start()
    await engine.sync()
    await engine.stop()
  }

  /// A relay noted for a device that the store does not know (anymore).
  @Test func relayOfAnUnknownDeviceDoesNotSpin() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    try await phone.setNote(
      "objects bin", to: Array("relay \(DeviceID(77).hexadecimal) 5".utf8))
    let engine = engine(phone, bin)
    await engine.start()
    await engine.sync()
    try await Task.sleep(for: .milliseconds(500))
    let lists = bin.lists
    await engine.stop()
    #expect(lists <= 3, "\(lists) passes while the time stands still")
  }

  /// Random passes of three devices with faults, cancellation and restarts.

  /// A short answer is not a damaged object: its writer may be lost.
  @Test func oneBadReadDoesNotDeleteTheOnlyCopy() async throws {
    let (lost, phone, bin) = (
      try await store(), try await store(), FailingStorage()
    )
    try await save(lost, "a")
    #expect(await engine(lost, bin).sync()[0].isUploaded)
    bin.with { $0.cutsNextGet = true }
    let engine = engine(phone, bin)
    await engine.sync()
    await engine.sync()
    #expect(await phone.read { $0.records(of: StoredNote.self).count } == 1)
  }

  /// A failed deletion does not hide that the saves are in objects.
  @Test func failedDeletionDoesNotHideTheUpload() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    bin.with {
      $0.fail = { call, _ in if call == "delete" { throw Offline() } }
    }
    let engine = engine(phone, bin)
    for i in 0..<3 {
      try await save(phone, "\(i)")
      let status = await engine.sync()[0]
      #expect(status.isUploaded, "save \(i)")
    }
  }
}
