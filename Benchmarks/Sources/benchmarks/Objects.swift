// SPDX-License-Identifier: Apache-2.0

import Foundation
import Harness
import Rejoin
import RejoinStore
import RejoinSync

extension Suite {
  /// Adds devices that meet in a folder or in a bucket: W25.
  mutating func addObjects() {
    addSeries()
    addImport()
    addIdleObjects()
    addLoadOfFolder()
  }

  /// Saves of own records, each in a pass of its own.
  private mutating func addSeries() {
    addTimes(
      "W25",
      "bytes of the objects of small saves, in the bytes of their deltas",
      size: 1_000, target: 10
    ) { scale in
      let series = try blocking { try await Series(saves: scale(1_000)) }
      return Double(series.stored) / Double(series.deltas)
    }
    addTimes(
      "W25", "objects of a device after small saves", size: 1_000, target: 12
    ) { scale in
      let series = try blocking { try await Series(saves: scale(1_000)) }
      return Double(series.count)
    }
  }

  /// An import, and small saves after it.
  private mutating func addImport() {
    addTimes(
      "W25",
      "bytes of the objects of an import and 100 saves, in those of the import",
      size: 70_000, target: 1.3
    ) { scale in
      let count = scale(70_000)
      return try blocking {
        let (bucket, device) = (Bucket(), try await FolderDevice())
        let engine = SyncEngine(device.store, routes: [bucket.route])
        try await device.store.save { transaction in
          for number in 0..<count {
            transaction[Item.self, "\(number)"].f0 = String(
              repeating: "\(number % 10)", count: 120)
          }
        }
        try await device.sync(engine)
        let start = bucket.byteCount
        for number in 0..<100 {
          try await device.write(number)
          try await device.sync(engine)
        }
        return Double(bucket.byteCount) / Double(start)
      }
    }
  }

  /// The calls of a pass that finds nothing, besides the list.
  private mutating func addIdleObjects() {
    addTimes(
      "W25", "the calls of an idle pass over objects, besides one list",
      size: 4,
      target: 0
    ) { _ in
      try blocking {
        let bucket = Bucket()
        var devices: [(FolderDevice, SyncEngine)] = []
        for _ in 0..<4 {
          let device = try await FolderDevice()
          devices.append(
            (device, SyncEngine(device.store, routes: [bucket.route])))
        }
        for number in 0..<3 {
          for (device, engine) in devices {
            try await device.write(number)
            try await device.sync(engine)
          }
        }
        for (device, engine) in devices { try await device.sync(engine) }
        let before = bucket.calls
        for (device, engine) in devices { try await device.sync(engine) }
        return Double(bucket.calls - before - devices.count)
      }
    }
  }

  /// A new device reads a folder, beside a store that applies one delta.
  private mutating func addLoadOfFolder() {
    addTimes(
      "W25", "a load from a folder, in the time to apply one delta",
      size: 100_000, target: 1.5
    ) { scale in
      let (folder, count) = (try Folder(), scale(100_000))
      let (place, another) = (try Folder(), try Folder())
      return try blocking {
        defer { withExtendedLifetime((folder, place, another)) {} }
        let source = try await FolderDevice(place.file("source.sqlite"))
        try await source.store.save { transaction in
          for number in 0..<count {
            let item = transaction[Item.self, Dataset.id(number)]
            (item.f0, item.f1) = ("\(number)", "text \(number)")
          }
        }
        guard let delta = try await source.store.delta(since: ReplicaVersion())
        else { throw HarnessError("there is no delta") }
        let storage = FolderStorage(at: folder.file(""), confirmsWrites: true)
        let route = SyncRoute("folder", scope: "s", objects: storage)
        try await source.sync(over: route)
        var ratios: [Double] = []
        for number in 0..<5 {
          let one = try await FolderDevice(another.file("\(number)-1.sqlite"))
          let other = try await FolderDevice(another.file("\(number)-2.sqlite"))
          let isFirst = number % 2 == 0
          var (load, plain) = (0.0, 0.0)
          if isFirst {
            load = try await seconds { try await one.sync(over: route) }
          }
          plain = try await seconds { _ = try await other.store.apply(delta) }
          if !isFirst {
            load = try await seconds { try await one.sync(over: route) }
          }
          for device in [one, other] {
            let found = await device.store.read {
              $0.recordCount(of: Item.self)
            }
            if found != count { throw HarnessError("\(found) records arrived") }
            try await device.store.close()
          }
          ratios.append(load / plain)
        }
        return ratios.sorted()[ratios.count / 2]
      }
    }
  }
}

/// A bucket in memory, which counts bytes and calls.
private final class Bucket: ObjectStorage, @unchecked Sendable {
  private let lock = NSLock()
  private var objects: [String: [UInt8]] = [:]
  private var bytes = 0
  private var count = 0

  var confirmsWrites: Bool { true }
  /// The bytes of all objects so far.
  var byteCount: Int { lock.withLock { bytes } }
  /// The number of calls so far.
  var calls: Int { lock.withLock { count } }
  /// The number of objects with saves.
  var saveCount: Int {
    lock.withLock { objects.keys.count { $0.hasSuffix(".rejoin") } }
  }

  var route: SyncRoute { SyncRoute("bucket", scope: "s", objects: self) }

  private func call<Value>(_ body: () -> Value) -> Value {
    lock.withLock {
      count += 1
      return body()
    }
  }

  func list() async throws -> [(name: String, byteCount: Int)] {
    call { objects.map { ($0.key, $0.value.count) } }
  }

  func get(_ name: String) async throws -> [UInt8]? { call { objects[name] } }

  func put(_ name: String, _ new: [UInt8]) async throws {
    call {
      bytes += new.count
      objects[name] = new
    }
  }

  func delete(_ names: [String]) async throws {
    call { for name in names { objects[name] = nil } }
  }
}

/// A device with a store and an engine.
private final class FolderDevice: Sendable {
  let store: ReplicaStore

  /// - Parameter path: The path of the store, or `nil` for one in memory.
  init(_ path: String? = nil) async throws {
    store =
      if let path {
        try await ReplicaStore(at: path, schema: [Item.self])
      } else {
        try await ReplicaStore.inMemory(schema: [Item.self])
      }
  }

  func write(_ number: Int, to key: String = "saved") async throws {
    try await store.save { $0[Item.self, key].f0 = "\(number)" }
  }

  /// Performs one pass of a new engine.
  func sync(over route: SyncRoute) async throws {
    let engine = SyncEngine(store, routes: [route])
    try await sync(engine)
    await engine.stop()
  }

  func sync(_ engine: SyncEngine) async throws {
    let status = await engine.sync().first
    if let problem = status?.problem { throw HarnessError(problem) }
    if status?.isSynced != true { throw HarnessError("a pass did not end") }
  }
}

/// Saves of one device, each of a record of its own and stored in its own pass.
private struct Series {
  /// The bytes of all objects, and those of the deltas.
  let (stored, deltas): (Int, Int)
  /// The number of objects at the end.
  let count: Int

  init(saves: Int) async throws {
    let (bucket, device) = (Bucket(), try await FolderDevice())
    let engine = SyncEngine(device.store, routes: [bucket.route])
    var bytes = 0
    for number in 0..<saves {
      let before = await device.store.version
      try await device.write(number, to: "\(number)")
      bytes += try await device.store.delta(since: before)?.encoded().count ?? 0
      try await device.sync(engine)
    }
    (stored, deltas, count) = (bucket.byteCount, bytes, bucket.saveCount)
  }
}
