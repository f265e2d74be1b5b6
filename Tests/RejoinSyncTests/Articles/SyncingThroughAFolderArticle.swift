// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinStore
import RejoinSync
import RejoinTesting
import Testing
import _RejoinVerification

private struct EncryptedStorage: ObjectStorage {
  let base: any ObjectStorage
  let seal, open: @Sendable ([UInt8]) throws -> [UInt8]

  var confirmsWrites: Bool { base.confirmsWrites }
  func list() async throws -> [(name: String, byteCount: Int)] {
    try await base.list()
  }
  func get(_ name: String) async throws -> [UInt8]? {
    // A damaged object has no bytes.
    try await base.get(name).map { try $0.isEmpty ? [] : open($0) }
  }
  func put(_ name: String, _ bytes: [UInt8]) async throws {
    try await base.put(name, seal(bytes))
  }
  func delete(_ names: [String]) async throws {
    try await base.delete(names)
  }
  func create() async throws { try await base.create() }
  func identity() async throws -> String? { try await base.identity() }
}

private protocol BucketClient: Sendable {
  /// Returns the keys of all pages, and their sizes.
  func list(_ prefix: String) async throws -> [(key: String, size: Int)]
  /// Returns `nil` if the key does not exist.
  func get(_ key: String) async throws -> [UInt8]?
  func put(_ key: String, _ bytes: [UInt8]) async throws
  /// Succeeds if the key does not exist.
  func delete(_ key: String) async throws
}

private struct Forbidden: Error {}

private struct BucketStorage: ObjectStorage {
  let client: any BucketClient
  let prefix: String
  let confirmsWrites = true

  func list() async throws -> [(name: String, byteCount: Int)] {
    try await client.list(prefix).map { object in
      ("\(object.key.dropFirst(prefix.count))", object.size)
    }
  }
  func get(_ name: String) async throws -> [UInt8]? {
    try await client.get(prefix + name)
  }
  func put(_ name: String, _ bytes: [UInt8]) async throws {
    do { try await client.put(prefix + name, bytes) } catch is Forbidden {
      throw SyncRefusal.denied
    }
  }
  func delete(_ names: [String]) async throws {
    for name in names { try await client.delete(prefix + name) }
  }
}

/// A bucket in memory.
private actor MemoryBucket: BucketClient {
  private(set) var objects: [String: [UInt8]] = [:]
  private var isReadOnly = false

  func forbidWrites(_ forbids: Bool) { isReadOnly = forbids }

  /// Changes a bit of each object.
  func damage() {
    objects = objects.mapValues { bytes in
      var bytes = bytes
      bytes[bytes.count / 2] ^= 1
      return bytes
    }
  }

  func list(_ prefix: String) -> [(key: String, size: Int)] {
    objects.filter { $0.key.hasPrefix(prefix) }
      .map { ($0.key, $0.value.count) }
  }

  func get(_ key: String) -> [UInt8]? { objects[key] }

  func put(_ key: String, _ bytes: [UInt8]) throws {
    if isReadOnly { throw Forbidden() }
    objects[key] = bytes
  }

  func delete(_ key: String) { objects[key] = nil }
}

@Suite class SyncingThroughAFolderArticle: EngineSuite {
  private struct Note: Entity {
    let title = register("title", of: String.self)
  }

  private struct WrongKey: Error {}

  /// A cipher that hides nothing from an attacker, with a check of the key.
  private static func cipher(_ key: UInt8) -> (
    seal: @Sendable ([UInt8]) throws -> [UInt8],
    open: @Sendable ([UInt8]) throws -> [UInt8]
  ) {
    (
      { [key] + $0.map { $0 ^ key } },
      { bytes in
        guard bytes.first == key else { throw WrongKey() }
        return bytes.dropFirst().map { $0 ^ key }
      }
    )
  }

  /// Creates a folder that the devices share.
  private func folder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(
      atPath: path(name), withIntermediateDirectories: false)
    return path(name)
  }

  private func files(in folder: String) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try Data(contentsOf: URL(filePath: "\(folder)/\($0)")))
      })
  }

  private func device(
    _ route: SyncRoute
  ) async throws -> (store: ReplicaStore, engine: SyncEngine) {
    let store = try await store()
    return (store, SyncEngine(store, routes: [route], time: clock.time))
  }

  /// Starts the app with a file and the folder.
  private func launch(
    _ name: String, _ shared: String
  ) async throws -> (ReplicaStore, SyncEngine) {
    let path = path(name)
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    let folder = FolderStorage(at: shared)
    let engine = SyncEngine(
      store, routes: [SyncRoute("folder", scope: "list-17", objects: folder)])
    await engine.start()
    await engine.sync()
    return (store, engine)
  }

  @Test func devicesSyncThroughFolder() async throws {
    let shared = try folder("shared")
    let (store, engine) = try await launch("phone", shared)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let status = await engine.sync()[0]
    #expect(status.isUploaded)
    #expect(status.unsentSaves == 0)
    #expect(status.problem == nil)
    let (other, second) = try await launch("tablet", shared)
    #expect(
      await other.read { $0.records(of: Note.self).map(\.title) } == ["Milk"])
    // Both kinds of names.
    let kinds = try files(in: shared).keys.map {
      $0.split(separator: ".").map(\.count)
    }
    #expect(
      kinds.sorted { $0.count < $1.count }
        == [[32, 16, 16, 7], [32, 33, 16, 16, 6]])
    for engine in [engine, second] { await engine.stop() }
  }

  @Test func missingFolderDeletesNothing() async throws {
    let folder = FolderStorage(at: path("missing"))
    let route = SyncRoute("folder", scope: "list-17", objects: folder)
    let (store, engine) = try await device(route)
    try await store.write("Milk")
    let status = await engine.sync()[0]
    #expect(
      status.error as? ObjectStorageError == .noFolder(path: path("missing")))
    #expect(status.unsentSaves == 1)
    #expect(await store.titles == ["Milk"])
    // The volume is connected.
    _ = try self.folder("missing")
    #expect(await engine.sync()[0].isUploaded)
  }

  @Test func encryptedFolderHasNoPlainText() async throws {
    let shared = try folder("shared")
    let folder = FolderStorage(at: shared)
    let (seal, open) = Self.cipher(0x5A)
    let encrypted = EncryptedStorage(base: folder, seal: seal, open: open)
    let route = SyncRoute("folder", scope: "list-17", objects: encrypted)
    let (phone, tablet) = (try await device(route), try await device(route))
    try await phone.store.write("Oat milk")
    #expect(await phone.engine.sync()[0].isUploaded)
    #expect(await tablet.engine.sync()[0].isSynced)
    #expect(await tablet.store.titles == ["Oat milk"])
    let sealed = try files(in: shared)
    #expect(sealed.count == 2)
    for bytes in sealed.values {
      for text in ["Oat milk", "list-17", "title"] {
        #expect(bytes.range(of: Data(text.utf8)) == nil)
      }
    }
    // Without the wrapper, the texts are there.
    let plain = try sealed.values.map { try open(Array($0)) }
    #expect(plain.contains { Data($0).range(of: Data("Oat milk".utf8)) != nil })

    // A device with another key reads and deletes nothing.
    let (otherSeal, otherOpen) = Self.cipher(0x5B)
    let watch = try await device(
      SyncRoute(
        "folder", scope: "list-17",
        objects: EncryptedStorage(
          base: folder, seal: otherSeal, open: otherOpen)))
    for _ in 0..<2 {
      clock.advance(by: 2 * 86_400_000)
      let status = await watch.engine.sync()[0]
      #expect(status.error is WrongKey)
      #expect(!status.isSynced)
    }
    #expect(await watch.store.titles.isEmpty)
    #expect(try files(in: shared) == sealed)
  }

  @Test func devicesSyncThroughBucket() async throws {
    let client = MemoryBucket()
    let bucket = BucketStorage(client: client, prefix: "list-17/")
    let route = SyncRoute("bucket", scope: "list-17", objects: bucket)
    let (phone, tablet) = (try await device(route), try await device(route))
    try await client.put("list-18/photo.jpg", [1])
    try await phone.store.write("Milk")
    #expect(await phone.engine.sync()[0].isUploaded)
    #expect(await tablet.engine.sync()[0].isSynced)
    #expect(await tablet.store.titles == ["Milk"])
    // A new file replaces the earlier one.
    try await phone.store.write("Rye")
    await phone.engine.sync()
    let keys = await client.objects.keys.sorted()
    #expect(keys.count == 3)
    #expect(keys.last == "list-18/photo.jpg")

    // A member who may only read.
    await client.forbidWrites(true)
    try await tablet.store.write("Oats", to: "2")
    let status = await tablet.engine.sync()[0]
    #expect(status.uploadRefusal == .denied)
    #expect(status.unsentSaves == 1)
    #expect(await tablet.store.titles == ["Rye", "Oats"])
  }

  @Test func holdersReplaceDamagedObjects() async throws {
    let client = MemoryBucket()
    let bucket = BucketStorage(client: client, prefix: "list-17/")
    let route = SyncRoute("bucket", scope: "list-17", objects: bucket)
    let (phone, tablet) = (try await device(route), try await device(route))
    try await phone.store.write("Milk")
    await phone.engine.sync()
    await client.damage()
    await tablet.engine.sync()
    #expect(await !client.objects.isEmpty)
    clock.advance(by: 600_000)
    await tablet.engine.sync()
    #expect(await client.objects.isEmpty)
    await phone.engine.sync()
    await tablet.engine.sync()
    #expect(await tablet.store.titles == ["Milk"])
  }

  @Test func encryptedBucketReplacesDamage() async throws {
    let client = MemoryBucket()
    let bucket = BucketStorage(client: client, prefix: "")
    let (seal, open) = Self.cipher(0x5A)
    let isDamaged = Locked(true)
    let route = SyncRoute(
      "bucket", scope: "list-17",
      objects: EncryptedStorage(base: bucket, seal: seal) { bytes in
        isDamaged.withLock { $0 } ? [] : try open(bytes)
      })
    let (phone, tablet) = (try await device(route), try await device(route))
    try await phone.store.write("Milk")
    await phone.engine.sync()
    await tablet.engine.sync()
    #expect(await !client.objects.isEmpty)
    clock.advance(by: 600_000)
    await tablet.engine.sync()
    #expect(await client.objects.isEmpty)
    isDamaged.withLock { $0 = false }
    await phone.engine.sync()
    await tablet.engine.sync()
    #expect(await tablet.store.titles == ["Milk"])
  }

  @Test func twoScopesInOneFolderStop() async throws {
    let shared = try folder("shared")
    let folder = FolderStorage(at: shared)
    var devices: [(store: ReplicaStore, engine: SyncEngine)] = []
    for scope in ["list-17", "list-18"] {
      devices.append(
        try await device(SyncRoute("folder", scope: scope, objects: folder)))
    }
    try await devices[0].store.write("Milk")
    await devices[0].engine.sync()
    let before = try files(in: shared)
    let status = await devices[1].engine.sync()[0]
    #expect(status.state == .needsDecision)
    #expect(status.error as? SyncRefusal == .wrongScope)
    #expect(try files(in: shared) == before)
    #expect(await devices[1].store.titles.isEmpty)

    // The devices write their saves into a new folder.
    let new = FolderStorage(at: try self.folder("new"))
    await devices[0].engine.stop()
    let route = SyncRoute("folder", scope: "list-17", objects: new)
    let engine = SyncEngine(
      devices[0].store, routes: [route], time: clock.time)
    #expect(await engine.sync()[0].isUploaded)
    let tablet = try await device(route)
    await tablet.engine.sync()
    #expect(await tablet.store.titles == ["Milk"])
  }

  /// Each device syncs and purges once a day, each day in another order.
  @Test func deletionIsPurgedWithinEightDays() async throws {
    let folder = FolderStorage(at: try folder("shared"))
    let route = SyncRoute("folder", scope: "list-17", objects: folder)
    var devices: [(store: ReplicaStore, engine: SyncEngine)] = []
    for i in 0..<3 {
      devices.append(try await device(route))
      try await devices[i].store.write("Milk", to: "\(i)")
    }
    var random = SeededRandom(seed: 7)
    func passDay() async throws {
      for (store, engine) in devices.shuffled(using: &random) {
        #expect(await engine.sync()[0].error == nil)
        try await store.withReplica { _ = try $0.purgeDeletedRecords() }
        clock.advance(by: 86_400_000 / 3)
      }
    }
    for _ in 0..<3 { try await passDay() }
    try await devices[0].store.save { $0[Item.self, "0"].delete() }
    func holders() async -> Int {
      var count = 0
      for (store, _) in devices {
        let value = await store.read {
          $0.record(RecordID("Item", "0"))?
            .value(of: FieldKey("title", .register))
        }
        if value != nil { count += 1 }
      }
      return count
    }
    #expect(await holders() == 3)
    for _ in 0..<8 { try await passDay() }
    #expect(await holders() == 0)
  }
}
