// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSync
import _RejoinVerification

/// Lets an engine find a damaged object in a bucket and in a drive.
///
/// A pass must end with an error of the library or without one. The second pass changes
/// nothing more. Only an object with the name of one may be deleted.
struct ObjectsBody {
  static let scope = "s"

  private let name: String
  private let bytes: [UInt8]

  init(_ input: [UInt8]) {
    let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
    name = String(decoding: input[..<end], as: UTF8.self)
    bytes = Array(input[end...].dropFirst())
  }

  func check() throws(FuzzFailure) {
    try checkAlone(resealing: bytes) { [name] bytes in
      for confirms in [true, false] {
        try await Finder.shared.find(name, bytes, confirmsWrites: confirms)
      }
    }
  }
}

/// A store, which is created again after a change.
private actor Finder {
  static let shared = Finder()

  private var store: ReplicaStore?

  private func open() async throws -> ReplicaStore {
    if let store { return store }
    let new = try await ReplicaStore.inMemory(
      schema: ScriptUniverse.standard.schema)
    let content = LiveHistory.open(LiveHistory.shared.states[0]).delta()
    if let content { try await new.apply(content) }
    store = new
    return new
  }

  func find(
    _ name: String, _ bytes: [UInt8], confirmsWrites: Bool
  ) async throws {
    let store = try await open()
    let before = await store.version
    let place = Place([name: bytes], confirmsWrites: confirmsWrites)
    let events = try await pass(over: place, twiceWith: store)
    let after = await store.version
    // They end with the engine.
    for await _ in events {}
    let isNamed = name.hasSuffix(".rejoin") || name.hasSuffix(".version")
    try require(
      isNamed || place.contains(name), "\(name) is deleted")
    if after != before { self.store = nil }
  }

  /// Performs two passes, and returns the events of the engine.
  private func pass(
    over place: Place, twiceWith store: ReplicaStore
  ) async throws -> AsyncStream<SyncEvent> {
    let engine = SyncEngine(
      store, routes: [.init("place", scope: ObjectsBody.scope, objects: place)])
    try check(await engine.sync()[0])
    let version = await store.version
    try check(await engine.sync()[0])
    try require(
      await store.version == version, "the second pass reads something new")
    await engine.stop()
    return engine.events
  }

  private func check(_ status: SyncStatus) throws {
    guard let error = status.error else { return }
    try require(
      error is WireError || error is SyncRefusal || error is StoreError,
      "a pass throws \(error)")
  }
}

/// Objects in memory.
private final class Place: ObjectStorage, @unchecked Sendable {
  let confirmsWrites: Bool
  private let lock = NSLock()
  private var objects: [String: [UInt8]]

  init(_ objects: [String: [UInt8]], confirmsWrites: Bool) {
    (self.objects, self.confirmsWrites) = (objects, confirmsWrites)
  }

  var all: [String: [UInt8]] { lock.withLock { objects } }

  func contains(_ name: String) -> Bool {
    lock.withLock { objects[name] != nil }
  }

  func list() async throws -> [(name: String, byteCount: Int)] {
    lock.withLock { objects.map { ($0.key, $0.value.count) } }
  }

  func get(_ name: String) async throws -> [UInt8]? {
    lock.withLock { objects[name] }
  }

  func put(_ name: String, _ bytes: [UInt8]) async throws {
    lock.withLock { objects[name] = bytes }
  }

  func delete(_ names: [String]) async throws {
    lock.withLock { for name in names { objects[name] = nil } }
  }
}

extension ObjectsBody {
  /// The objects that some stores leave for each other.
  static var seeds: [[UInt8]] {
    waiting {
      do { return try await objects() } catch { return [] }
    }
  }

  private static func objects() async throws -> [[UInt8]] {
    let place = Place([:], confirmsWrites: false)
    for seed in 1...3 {
      let script = ScriptGenerator.script(
        seed: UInt64(seed), steps: 40, devices: 1)
      let store = try await ReplicaStore.inMemory(
        schema: ScriptUniverse.standard.schema)
      let engine = SyncEngine(
        store, routes: [.init("place", scope: scope, objects: place)])
      for case .save(_, let verbs) in script.steps {
        _ = try? await store.save { transaction in
          transaction.perform(verbs)
        }
        await engine.sync()
      }
      await engine.stop()
    }
    return place.all.sorted { $0.key < $1.key }.map {
      Array($0.key.utf8) + [UInt8(ascii: "\n")] + $0.value
    }
  }
}
