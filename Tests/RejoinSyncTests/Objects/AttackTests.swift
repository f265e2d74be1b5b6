// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

private struct Note: Entity {
  let title = register("title", of: String.self)
}

private struct Offline: Error {}

/// A storage in memory, which lies and fails as a test demands.
private final class Bin: ObjectStorage {
  struct State {
    var objects: [String: [UInt8]] = [:]
    var extra: [(name: String, byteCount: Int)] = []
    var calls: [String] = []
    var account: String?
    /// How often of 100 times a call throws after it was done.
    var mayFailAfter = 0
    var yields = false
    var cutsNextGet = false
    var hook: (@Sendable (String) async -> Void)?
    var fail: @Sendable (String, String) throws -> Void = { _, _ in }
  }
  let state = NSLock()
  nonisolated(unsafe) private var raw = State()
  let confirmsWrites: Bool
  init(confirms: Bool = true) { confirmsWrites = confirms }

  func with<T>(_ body: (inout State) throws -> T) rethrows -> T {
    state.lock()
    defer { state.unlock() }
    return try body(&raw)
  }
  private func leave() async throws {
    let (rate, yields) = with { ($0.mayFailAfter, $0.yields) }
    if yields {
      try await Task.sleep(for: .microseconds(Int.random(in: 0..<1_500)))
    }
    if Int.random(in: 0..<100) < rate { throw Offline() }
  }
  private func enter(_ call: String, _ name: String = "") throws {
    try Task.checkCancellation()
    let fail = with { state in
      state.calls.append(call)
      return state.fail
    }
    try fail(call, name)
  }
  func list() async throws -> [(name: String, byteCount: Int)] {
    try enter("list")
    let list = with { $0.objects.map { ($0.key, $0.value.count) } + $0.extra }
    try await leave()
    await with { $0.hook }?("list")
    return list
  }
  func get(_ name: String) async throws -> [UInt8]? {
    try enter("get", name)
    var bytes = with { $0.objects[name] }
    try await leave()
    if with({ $0.cutsNextGet }) {
      with { $0.cutsNextGet = false }
      bytes?.removeLast(3)
    }
    await with { $0.hook }?("get")
    return bytes
  }
  func put(_ name: String, _ bytes: [UInt8]) async throws {
    try enter("put", name)
    with { $0.objects[name] = bytes }
    try await leave()
    await with { $0.hook }?("put")
  }
  func delete(_ names: [String]) async throws {
    try enter("delete")
    with { for name in names { $0.objects[name] = nil } }
    try await leave()
    await with { $0.hook }?("delete")
  }
  func identity() async throws -> String? { with { $0.account } }
  var lists: Int { with { $0.calls.filter { $0 == "list" }.count } }
  var names: [String] { with { $0.objects.keys.sorted() } }
}

private final class Time: Sendable {
  private let lock = NSLock()
  nonisolated(unsafe) private var wall: Int64 = 1_700_000_000_000
  nonisolated(unsafe) private var up: Int64 = 0
  func get() -> (wall: Int64, up: Int64) {
    lock.lock()
    defer { lock.unlock() }
    return (wall, up)
  }
  func advance(_ count: Int64) {
    lock.lock()
    (wall, up) = (wall + count, up + count)
    lock.unlock()
  }
  func set(by count: Int64) {
    lock.lock()
    wall += count
    lock.unlock()
  }
  var sync: SyncTime {
    SyncTime(
      now: { self.get().wall }, uptime: { self.get().up },
      wait: { end in
        while self.get().up < end {
          try await Task.sleep(for: .milliseconds(1))
        }
      }, random: { $0 == .max ? Int64.random(in: 0 ... .max) : $0 })
  }
}

@Suite(.serialized) final class AttackTests {
  private let folder: String
  private let time = Time()

  init() throws {
    folder = NSTemporaryDirectory() + "attack-\(UUID())"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func store(_ id: UInt64? = nil, _ name: String = "\(UUID())")
    async throws -> ReplicaStore
  {
    try await ReplicaStore(
      at: folder + "/" + name, schema: [Note.self],
      makeDeviceID: { id.map { DeviceID(high: $0, low: $0) } ?? .random() })
  }
  private func save(_ store: ReplicaStore, _ text: String) async throws {
    try await store.save { $0[Note.self, text].title = text }
  }
  private func give(_ from: ReplicaStore, _ to: ReplicaStore) async throws {
    let delta = try #require(try await from.delta(since: await to.version))
    try await to.apply(delta)
  }
  private func engine(_ store: ReplicaStore, _ bin: any ObjectStorage)
    -> SyncEngine
  {
    SyncEngine(
      store, routes: [SyncRoute("bin", scope: "s", objects: bin)],
      time: time.sync)
  }

  /// Rule: each failure waits, also if a relay is due.
  @Test func dueRelayDoesNotSkipTheWaitAfterAFailure() async throws {
    let (phone, tablet, bin) = (try await store(), try await store(), Bin())
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
    let (phone, tablet, bin) = (try await store(), try await store(), Bin())
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
    let (phone, tablet, bin) = (try await store(), try await store(), Bin())
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
    let (phone, bin) = (try await store(), Bin())
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

  /// One device's refused object must not keep the others' saves, above all the own.
  @Test func refusedRelayDoesNotBlockOwnSaves() async throws {
    let (old, phone) = (try await store(1), try await store(2))
    let bin = Bin()
    try await save(old, "a")
    try await give(old, phone)
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
    await engine.sync()
    try await save(phone, "own2")
    await engine.sync()
    #expect(bin.names.contains { $0.hasPrefix("0000000000000002") })
  }

  /// Another `identity()` than at the first contact is `wrongScope`.
  @Test func signedOutAccountIsAnotherAccount() async throws {
    let (phone, bin) = (try await store(), Bin())
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
    let (phone, bin) = (try await store(), Bin())
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

  @Test func fifoDoesNotBlockTheFolder() async throws {
    let place = folder + "/place"
    try FileManager.default.createDirectory(
      atPath: place, withIntermediateDirectories: false)
    let storage = FolderStorage(at: place)
    let name = ObjectName(DeviceID(5), .version(number: 1), nonce: 1)
    try await storage.put("\(name)", [1])
    _ = try await storage.list()
    unlink("\(place)/\(name)")
    mkfifo("\(place)/\(name)", 0o600)
    let done = Task { _ = try? await storage.get("\(name)") }
    let list = Task { try await storage.list() }
    let timer = Task {
      try await Task.sleep(for: .seconds(2))
      list.cancel()
    }
    let result = await list.result
    timer.cancel()
    done.cancel()
    if case .failure = result { Issue.record("the folder hangs") }
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
    let (phone, bin) = (try await store(), Bin(confirms: false))
    let name = ObjectName(DeviceID(5), .version(number: 1), nonce: 1)
    bin.with { $0.objects["\(name)"] = [1, 2, 3] }
    let engine = engine(phone, bin)
    await engine.sync()
    bin.with { $0.calls = [] }
    await engine.sync()
    #expect(bin.with { $0.calls } == ["list"])
  }

  @Test func manyNamesAreReadInTime() async throws {
    let (phone, bin) = (try await store(), Bin())
    let end = DeviceSave(sequence: 1, time: .zero, digest: 7)
    bin.with { state in
      for i in 0..<4_000 {
        let name = ObjectName(
          DeviceID(UInt64(i + 10)), .saves(SaveInterval(from: 0, to: end)),
          nonce: 1)
        state.extra.append(("\(name)", 100))
      }
    }
    let start = ContinuousClock.now
    await engine(phone, bin).sync()
    let one = ContinuousClock.now - start
    #expect(one < .seconds(1), "4,000 names took \(one)")
  }

  /// Must be last: it kills the process.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TRAP"] != nil))
  func zTimeOfANoteDoesNotTrap() async throws {
    let phone = try await store()
    let id = await phone.device.hexadecimal
    try await phone.setNote(
      "objects bin", to: Array("relay \(id) \(Int64.min)".utf8))
    let engine = engine(phone, Bin())
    await engine.start()
    await engine.sync()
    await engine.stop()
  }

  /// A relay noted for a device that the store does not know (anymore).
  @Test func relayOfAnUnknownDeviceDoesNotSpin() async throws {
    let (phone, bin) = (try await store(), Bin())
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
  @Test(arguments: 0..<(Int(ProcessInfo.processInfo.environment["RUNS"] ?? "30") ?? 30))
  func confirmedSavesStayInTheStorage(_ run: Int) async throws {
    let bin = Bin(confirms: run % 2 == 0)
    var stores: [ReplicaStore] = []
    for _ in 0..<4 { stores.append(try await store()) }
    let rate = [0, 5, 20, 40][run % 4]
    bin.with {
      $0.fail = { call, _ in
        if call == "after" { return }
        if Int.random(in: 0..<100) < rate { throw Offline() }
      }
      $0.mayFailAfter = rate / 2
      $0.yields = true
    }
    let time = time
    let memories = stores.map { _ in Box(ObjectMemory()) }
    // What devices were told to be safe.
    let promised = Box(ReplicaVersion())
    for round in 0..<12 {
      for (i, store) in stores.enumerated() where Bool.random() {
        for _ in 0..<Int.random(in: 1...4) {
          try await save(store, "\(run) \(round) \(i) \(Int.random(in: 0..<99))")
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for (i, store) in stores.enumerated() where Int.random(in: 0..<4) > 0 {
          let box = memories[i]
          if Int.random(in: 0..<6) == 0 {
            box.value = ObjectMemory(note: box.value.note)
          }
          let cancels = Int.random(in: 0..<5) == 0
          group.addTask {
            let task = Task {
              var memory = box.value
              let result = try? await store.sync(
                scope: "s", objects: bin, remembering: &memory, uploads: true,
                time.sync, reporting: { _ in })
              box.value = memory
              if let result, result.isUploaded {
                promised.join(result.peerVersion)
              }
            }
            if cancels {
              try? await Task.sleep(for: .microseconds(Int.random(in: 0..<9_000)))
              task.cancel()
            }
            await task.value
          }
        }
      }
      time.advance(Int64.random(in: 0..<40_000_000))
      // Whoever comes new must get what was promised.
      let lacks = missing(promised.value, bin)
      #expect(lacks.isEmpty, "round \(round): \(lacks) \(bin.names)")
      if !lacks.isEmpty { return }
    }
    bin.with {
      $0.fail = { _, _ in }
      ($0.mayFailAfter, $0.yields) = (0, false)
    }
    for _ in 0..<6 {
      for (i, store) in stores.enumerated() {
        _ = try await store.sync(
          scope: "s", objects: bin, remembering: &memories[i].value,
          uploads: true, time.sync, reporting: { _ in })
      }
      time.advance(90_000_000)
    }
    for (i, store) in stores.enumerated() {
      let count = bin.with { state in
        state.calls = []
        return state.objects.keys.filter { $0.hasSuffix(".rejoin") }.count
      }
      let result = try await store.sync(
        scope: "s", objects: bin, remembering: &memories[i].value,
        uploads: true, time.sync, reporting: { _ in })
      #expect(result.isSynced && result.isUploaded)
      #expect(count <= 4 * 12)
      let gets = bin.with { $0.calls }.filter { $0 != "list" }
      #expect(gets.count <= 3, "\(gets)")
    }
    let new = try await store()
    var memory = ObjectMemory()
    _ = try await new.sync(
      scope: "s", objects: bin, remembering: &memory, uploads: true, time.sync,
      reporting: { _ in })
    let titles = await new.read { $0.records(of: Note.self).map(\.title) }
    for store in stores {
      #expect(await store.read { $0.records(of: Note.self).map(\.title) } == titles)
    }
  }

  /// A short answer is not a damaged object: its writer may be lost.
  @Test func oneBadReadDoesNotDeleteTheOnlyCopy() async throws {
    let (lost, phone, bin) = (try await store(), try await store(), Bin())
    try await save(lost, "a")
    #expect(await engine(lost, bin).sync()[0].isUploaded)
    bin.with { $0.cutsNextGet = true }
    let engine = engine(phone, bin)
    await engine.sync()
    await engine.sync()
    #expect(await phone.read { $0.records(of: Note.self).count } == 1)
  }

  @Test(arguments: ["list", "get", "put", "delete"], [false, true])
  func storeEndsDuringAPass(_ call: String, _ deletes: Bool) async throws {
    let (phone, tablet, bin) = (try await store(), try await store(), Bin())
    let other = engine(tablet, bin)
    for i in 0..<3 {
      try await save(tablet, "\(i)")
      bin.with { $0.fail = { call, _ in if call == "delete" { throw Offline() } } }
      await other.sync()
    }
    bin.with { $0.fail = { _, _ in } }
    try await save(phone, "a")
    bin.with {
      $0.hook = { made in
        guard made == call else { return }
        if deletes { try? await phone.deleteScope() } else { try? await phone.close() }
      }
    }
    let engine = engine(phone, bin)
    await engine.start()
    let status = await engine.sync()[0]
    #expect(bin.with { $0.calls }.contains(call))
    try await Task.sleep(for: .milliseconds(50))
    let now = await engine.publish()[0]
    #expect(now.state == .stopped, "\(status.state) \(now.state) \(String(describing: now.error))")
    #expect(await engine.plannedTime == nil)
    await engine.stop()
  }

  /// A device that is copied with its token.
  @Test func forkEndsAndIdles() async throws {
    let bin = Bin()
    let one = try await store(nil, "one")
    try await save(one, "base")
    await engine(one, bin).sync()
    try await one.close()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder)
    where file.hasPrefix("one") {
      try FileManager.default.copyItem(
        atPath: folder + "/" + file, toPath: folder + "/copy" + file.dropFirst(3))
    }
    let stores = [
      try await store(nil, "one"), try await store(nil, "copy"), try await store(),
    ]
    let engines = stores.map { engine($0, bin) }
    for round in 0..<3 {
      for (i, store) in stores.enumerated() {
        try await save(store, "\(round) \(i)")
        if i == round { try await save(store, "\(round) \(i) b") }
      }
      for engine in engines { await engine.sync() }
    }
    for _ in 0..<6 {
      for engine in engines { await engine.sync() }
      time.advance(1_300_000)
    }
    for (i, engine) in engines.enumerated() {
      bin.with { $0.calls = [] }
      let status = await engine.sync()[0]
      #expect(bin.with { $0.calls } == ["list"], "device \(i)")
      #expect(status.isSynced && status.isUploaded)
    }
    let new = try await store()
    await engine(new, bin).sync()
    let counts = [
      await stores[0].read { $0.records(of: Note.self).count },
      await stores[1].read { $0.records(of: Note.self).count },
      await stores[2].read { $0.records(of: Note.self).count },
      await new.read { $0.records(of: Note.self).count },
    ]
    #expect(counts == [13, 13, 13, 13])
  }

  /// A forged object of the last number of the own device.
  @Test func lastSaveNumberEnds() async throws {
    let (phone, bin) = (try await store(), Bin())
    try await save(phone, "a")
    let id = await phone.device
    let end = DeviceSave(sequence: .max, time: .zero, digest: 7)
    let interval = SaveInterval(from: 0, to: end)
    var message = SyncMessage(.object, scope: "s")
    (message.device, message.part) = (DeviceID(9), Delta(changes: [], intervals: [id: interval]))
    let name = ObjectName(id, .saves(interval), nonce: 1)
    bin.with { $0.objects["\(name)"] = message.encoded() }
    let engine = engine(phone, bin)
    for i in 0..<3 {
      await engine.sync()
      try await save(phone, "b\(i)")
    }
    let status = await engine.sync()[0]
    #expect(status.isUploaded && status.error == nil, "\(status)")
    let new = try await store()
    await self.engine(new, bin).sync()
    #expect(await new.read { $0.records(of: Note.self).count } >= 3)
  }

  @Test func importsAndDeletionsTravel() async throws {
    let bin = Bin()
    let stores = [try await store(), try await store(), try await store()]
    let engines = stores.map { engine($0, bin) }
    for store in stores.prefix(2) {
      try await store.withReplica { replica in
        _ = try replica.importRows { $0[Note.self, "seed"].title = "seed" }
        _ = try replica.importRows(from: "crm", modifiedAt: 5) {
          $0[Note.self, "row"].title = "row"
        }
      }
    }
    for (i, store) in stores.enumerated() { try await save(store, "\(i)") }
    for _ in 0..<5 {
      for engine in engines {
        let status = await engine.sync()[0]
        #expect(status.error == nil)
      }
    }
    try await stores[0].save { $0[Note.self, "1"].delete() }
    for _ in 0..<6 {
      for engine in engines { await engine.sync() }
      time.advance(90_000_000)
    }
    for (i, engine) in engines.enumerated() {
      await engine.sync()
      bin.with { $0.calls = [] }
      let status = await engine.sync()[0]
      #expect(bin.with { $0.calls } == ["list"], "device \(i)")
      #expect(status.isSynced && status.isUploaded)
      #expect(await stores[i].read { $0.records(of: Note.self).count } == 4)
    }
  }

  /// Empty names of the own device must not make each save export everything.
  @Test func chainOfEmptyNamesIsCheap() async throws {
    let (phone, bin) = (try await store(), Bin())
    for i in 0..<300 { try await save(phone, "\(i)") }
    let id = await phone.device
    bin.with { state in
      for i in 0..<300 {
        let end = DeviceSave(sequence: UInt64(i + 1), time: .zero, digest: 0)
        let name = ObjectName(
          id, .saves(SaveInterval(from: UInt64(i), to: end)), nonce: 1)
        state.extra.append(("\(name)", 0))
      }
    }
    try await save(phone, "new")
    let start = ContinuousClock.now
    await engine(phone, bin).sync()
    let time = ContinuousClock.now - start
    #expect(time < .seconds(1), "300 names took \(time)")
  }

  @Test func largeSavesAndAbsorbing() async throws {
    let (phone, tablet, bin) = (try await store(), try await store(), Bin())
    let engine = engine(phone, bin)
    for round in 0..<4 {
      try await phone.save { transaction in
        for i in 0..<5_000 {
          transaction[Note.self, "\(i)"].title = "\(round) \(i) \(String(repeating: "x", count: 60))"
        }
      }
      let status = await engine.sync()[0]
      #expect(status.isUploaded && status.error == nil)
    }
    #expect(await self.engine(tablet, bin).sync()[0].isSynced)
    let all = await tablet.read { $0.records(of: Note.self).map(\.title) }
    #expect(await phone.read { $0.records(of: Note.self).map(\.title) } == all)
  }

  /// A newer object of another device must not keep the own saves.
  @Test func anotherRouteNameWithUnreadableObjects() async throws {
    let (phone, bin) = (try await store(), Bin())
    let end = DeviceSave(sequence: 1, time: .zero, digest: 7)
    let name = ObjectName(
      DeviceID(5), .saves(SaveInterval(from: 0, to: end)), nonce: 1)
    bin.with {
      $0.extra = [("\(name)", 100)]
      $0.fail = { call, _ in if call == "get" { throw Offline() } }
    }
    try await save(phone, "a")
    let engine = engine(phone, bin)
    let status = await engine.sync()[0]
    #expect(status.isUploaded && !status.isSynced && status.error != nil)
  }

  /// A failed deletion does not hide that the saves are in objects.
  @Test func failedDeletionDoesNotHideTheUpload() async throws {
    let (phone, bin) = (try await store(), Bin())
    bin.with { $0.fail = { call, _ in if call == "delete" { throw Offline() } } }
    let engine = engine(phone, bin)
    for i in 0..<3 {
      try await save(phone, "\(i)")
      let status = await engine.sync()[0]
      #expect(status.isUploaded, "save \(i)")
    }
  }

  /// Started engines alone, with faults and direct exchanges, and then without faults.
  @Test(arguments: 0..<(Int(ProcessInfo.processInfo.environment["RUNS"] ?? "6") ?? 6))
  func startedEnginesNeitherSpinNorStick(_ run: Int) async throws {
    let bin = Bin(confirms: run % 2 == 0)
    var stores: [ReplicaStore] = []
    for _ in 0..<3 { stores.append(try await store()) }
    let engines = stores.map { engine($0, bin) }
    for engine in engines { await engine.start() }
    func settle() async throws {
      for engine in engines {
        var quiet = 0
        for _ in 0..<2_000 where quiet < 4 {
          let due = await engine.plannedTime.map { $0 <= time.get().up } ?? false
          let isPassing = await engine.isPassing
          quiet = due || isPassing ? 0 : quiet + 1
          try await Task.sleep(for: .milliseconds(1))
        }
        #expect(quiet >= 4, "an engine does not get quiet")
      }
    }
    func step() async throws {
      let before = bin.lists
      try await settle()
      let passes = bin.lists - before
      #expect(passes <= 12, "\(passes) passes at one time")
      var planned: Int64?
      for engine in engines {
        if let due = await engine.plannedTime { planned = min(planned ?? due, due) }
      }
      if let planned { time.advance(max(planned - time.get().up, 0)) }
    }
    for round in 0..<25 {
      let mode = Int.random(in: 0..<9)
      bin.with {
        $0.fail = { call, _ in
          switch (mode, call) {
          case (0, _): throw Offline()
          case (1, "put"): throw SyncRefusal.denied
          case (2, "put"): throw SyncRefusal.tooLarge
          case (3, "list"): throw SyncRefusal.busy(seconds: 40)
          case (4, "get"): throw Offline()
          case (5, "put"): throw Offline()
          case (6, "delete"): throw Offline()
          default: break
          }
        }
      }
      if Int.random(in: 0..<4) == 0 {
        time.set(by: Int64.random(in: -90_000_000...90_000_000))
      }
      let i = Int.random(in: 0..<3)
      if Bool.random() { try await save(stores[i], "\(round)") }
      if Bool.random() {
        let other = (i + 1) % 3
        if let delta = try await stores[i].delta(since: await stores[other].version) {
          try await stores[other].apply(delta)
        }
      }
      try await Task.sleep(for: .milliseconds(3))
      for _ in 0..<Int.random(in: 1...3) { try await step() }
    }
    bin.with { $0.fail = { _, _ in } }
    let end = time.get().up + 7_200_000
    for engine in engines { await engine.resume("bin") }
    for _ in 0..<60 where time.get().up < end { try await step() }
    for engine in engines {
      let status = await engine.publish()[0]
      #expect(status.isUploaded && status.error == nil, "\(status)")
    }
    for engine in engines { await engine.stop() }
  }

  private func missing(_ version: ReplicaVersion, _ bin: Bin) -> [String] {
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
      return reach < entry.count ? "\(entry.device) \(reach)<\(entry.count)" : nil
    }
  }
}

private final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value
  init(_ value: Value) { stored = value }
  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
extension Box<ReplicaVersion> {
  fileprivate func join(_ other: ReplicaVersion) {
    lock.withLock {
      var next = stored
      other.forEachDifference(from: ReplicaVersion()) { device, save, _ in
        if save.sequence > next[device].sequence { next.insert(save, of: device) }
      }
      stored = next
    }
  }
}
