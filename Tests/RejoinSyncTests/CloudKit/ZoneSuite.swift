// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import Foundation
import Rejoin
import RejoinStore
import RejoinSync
import RejoinTesting
import Testing

@testable import RejoinSync
@testable import _RejoinVerification

struct ZoneNote: Entity {
  let title = register("title", of: String.self)
  let count = counter("count")
}

/// A suite with a server, and devices whose time only the suite advances.
class ZoneSuite {
  let server = StandInServer()
  let clock = ManualTime()
  let folder: URL
  private let random = Locked(SeededRandom(seed: 68))

  /// The time of the clock, with the longest waits and random names.
  var time: SyncTime {
    SyncTime(
      now: { [clock] in clock.now }, uptime: { [clock] in clock.uptime },
      wait: { [clock] in try await clock.wait(until: $0) },
      random: { [random] bound in
        bound == .max ? Int64(random.withLock { $0.next() } >> 1) : bound
      })
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A device: a store, a container, and the engine between them.
  final class Device {
    let container: CKContainer
    let storage: CloudKitStorage
    let store: ReplicaStore
    let engine: SyncEngine

    init(
      _ container: CKContainer, _ storage: CloudKitStorage,
      _ store: ReplicaStore,
      _ time: SyncTime
    ) {
      (self.container, self.storage, self.store) = (container, storage, store)
      engine = SyncEngine(
        store, routes: [SyncRoute("icloud", scope: "s", objects: storage)],
        time: time)
    }

    @discardableResult
    func sync() async throws -> SyncStatus {
      try #require(await engine.sync().first)
    }

    func write(_ title: String, to key: String = "1") async throws {
      try await store.save { $0[ZoneNote.self, key].title = title }
    }

    var titles: [String?] {
      get async {
        await store.read { $0.records(of: ZoneNote.self).map(\.title) }
      }
    }
  }

  static let zone = CKRecordZone.ID(zoneName: "list")

  func store(_ name: String? = nil) async throws -> ReplicaStore {
    guard let name else {
      return try await ReplicaStore.inMemory(schema: [ZoneNote.self])
    }
    return try await ReplicaStore(
      at: folder.appending(path: name).path, schema: [ZoneNote.self])
  }

  func device(
    of user: String? = "anna", owner: String? = nil, at path: String? = nil
  ) async throws -> Device {
    let container = server.device(of: user)
    return Device(
      container, storage(container, owner: owner), try await store(path),
      time)
  }

  /// Returns the storage of a device whose zone belongs to its user or to an owner.
  func storage(_ container: CKContainer, owner: String? = nil)
    -> CloudKitStorage
  {
    guard let owner else { return CloudKitStorage(Self.zone, of: container) }
    let zone = CKRecordZone.ID(zoneName: "list", ownerName: owner)
    return CloudKitStorage(zone, of: container, isShared: true)
  }

  func storage() async throws -> CloudKitStorage {
    let storage = storage(server.device(of: "anna"))
    try await storage.create()
    return storage
  }

  /// Returns the calls of a closure.
  func calls(_ body: () async throws -> Void) async rethrows
    -> [StandInServer.Call]
  {
    server.set { $0.calls = [] }
    try await body()
    return server.set(\.calls)
  }

  var records: [String] { server.records(in: "list", of: "anna") }

  /// A name of an object.
  static func name(_ i: Int = 1) -> String {
    "\(ObjectName(DeviceID(1), .version(number: UInt64(i)), nonce: 7))"
  }

  /// Fails each call of a kind, also without an effect.
  func fail(
    _ call: StandInServer.Call, _ code: CKError.Code,
    after seconds: Double? = nil
  ) {
    server.set {
      $0.fail = { kind, _ in
        if kind == call { throw CKError(code, retryAfterSeconds: seconds) }
      }
    }
  }

  func repair() {
    server.set { ($0.fail, $0.failAfter) = ({ _, _ in }, { _, _ in }) }
  }
}
