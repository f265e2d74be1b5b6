// SPDX-License-Identifier: Apache-2.0

import CAllocations
import Foundation
import Harness
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Suite {
  /// Adds engines that sync with a hub over HTTP: W24.
  ///
  /// Stores and hubs are files, and the server runs in this process. The rows
  /// of many clients are in `hubload`.
  mutating func addEngines() {
    addLoadByEngine()
    addShownSave()
    addIdlePass()
    addWaitingEngine()
  }

  /// A new device, beside a call that passes its requests to the hub itself.
  private mutating func addLoadByEngine() {
    addTimes(
      "W24", "a load by an engine over HTTP, in the time of a plain loop",
      size: 100_000, target: 2
    ) { scale in
      let (hub, count) = (try ServedHub(), scale(100_000))
      try hub.fill(records: count)
      return try blocking {
        _ = try await hub.timeOfLoop(expecting: count)
        // Pairs in both orders.
        var ratios: [Double] = []
        for number in 0..<5 {
          if number % 2 == 0 {
            let engine = try await hub.timeOfEngine(expecting: count)
            let loop = try await hub.timeOfLoop(expecting: count)
            ratios.append(engine / loop)
          } else {
            let loop = try await hub.timeOfLoop(expecting: count)
            let engine = try await hub.timeOfEngine(expecting: count)
            ratios.append(engine / loop)
          }
        }
        return ratios.sorted()[ratios.count / 2]
      }
    }
  }

  /// A save, a pass of its device, a pass of another device and a read there.
  private mutating func addShownSave() {
    addTimes(
      "W24", "a save until another device shows it, of a save and two trips",
      target: 4
    ) { scale in
      let (line, count) = (try ShowingLine(), scale(1_000))
      return try blocking {
        var (shown, plain) = ([] as [Double], [] as [Double])
        for _ in 0..<count {
          shown.append(try await seconds { try await line.showSave() })
          plain.append(try await seconds { try await line.saveAndTravel() })
        }
        return shown.sorted()[count / 2] / plain.sorted()[count / 2]
      }
    }
    addLine("a save until another device shows it over HTTP") {
      try await $0.showSave()
    }
    addLine("a durable save and two round trips over HTTP") {
      try await $0.saveAndTravel()
    }
  }

  private mutating func addLine(
    _ work: String,
    _ body: @escaping @Sendable (ShowingLine) async throws -> Void
  ) {
    add("W24", work, per: "save") { scale in
      let (line, count) = (try ShowingLine(), scale(100))
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        try blocking {
          for _ in 0..<count { try await body(line) }
          return count
        }
      }
    }
  }

  /// A pass in which neither side has a save for the other.
  private mutating func addIdlePass() {
    addTimes(
      "W24", "the transactions of an idle pass that write", size: 50, target: 0
    ) { scale in
      let (hub, count) = (try ServedHub(), scale(100))
      let device = try hub.idleDevice(amid: scale(50))
      return try blocking {
        let files = try DataVersions(of: [hub.path, device.path])
        try await device.save(1)
        try await device.sync()
        if try files.changes() != 2 {
          throw HarnessError("a pass with a save did not change both files")
        }
        var changes = 0
        for _ in 0..<count {
          try await device.sync()
          changes += try files.changes()
        }
        return Double(changes)
      }
    }
    add("W24", "an idle pass over HTTP", size: 50, per: "pass") { scale in
      let (hub, count) = (try ServedHub(), scale(100))
      let device = try hub.idleDevice(amid: scale(50))
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        defer { withExtendedLifetime(hub) {} }
        return try blocking {
          for _ in 0..<count { try await device.sync() }
          return count
        }
      }
    }
  }

  /// Engines after a pass and after an error, with observers of their statuses.
  private mutating func addWaitingEngine() {
    addTimes(
      "W24", "the allocations of two engines that wait, in 5 s", target: 0
    ) { scale in
      let hub = try ServedHub()
      let idle = try hub.device()
      let refused = try Device(
        .init("busy", scope: "s") { _ in throw SyncRefusal.busy(seconds: 600) })
      let devices = [idle, refused]
      let observers = devices.map { device in
        Task { for await _ in device.engine.statuses {} }
      }
      defer { for observer in observers { observer.cancel() } }
      try blocking {
        try await idle.save(1)
        // Sync before the start. The timer of a pass that the engine no longer
        // needs would allocate when it fires.
        for device in devices {
          _ = await device.engine.sync()
          await device.engine.start()
        }
      }
      // The engines publish their last statuses.
      usleep(500_000)
      let before = allocation_count()
      usleep(scale == .full ? 5_000_000 : 500_000)
      let count = allocation_count() - before
      try blocking { for device in devices { await device.engine.stop() } }
      return Double(count)
    }
  }
}

/// Returns the seconds that a closure takes.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let start = ContinuousClock.now
  try await body()
  return (ContinuousClock.now - start) / .seconds(1)
}

/// A hub in a file, behind HTTP.
private final class ServedHub: Sendable {
  private static let scope = "s"

  let session: HubSession
  let path: String
  private let folder: Folder
  private let server: LoopbackServer

  init() throws {
    let folder = try Folder()
    let path = folder.file("hub.sqlite")
    let session = try blocking {
      try await Hub(connections: 1) { try HubDatabase.sqlite.connect(path) }
        .makeSession { _ in }
    }
    (self.folder, self.path, self.session) = (folder, path, session)
    server = try LoopbackServer { await session.answer($0) }
  }

  /// Creates a device whose engine syncs with this hub.
  func device() throws -> Device {
    try Device(
      .http(
        "hub", scope: ServedHub.scope, url: server.url,
        session: URLSession(configuration: .ephemeral)))
  }

  /// Adds records, as a device does in parts.
  func fill(records: Int) throws {
    let replica = try Dataset(records: records).replica()
    let (session, scope) = (session, ServedHub.scope)
    while let part = replica.delta(
      since: try blocking { try await session.version(of: scope) },
      byteLimit: 1 << 20)
    {
      try blocking { _ = try await session.apply(part, in: scope) }
    }
  }

  /// Creates a device that has nothing to sync, in a scope with other devices.
  func idleDevice(amid count: Int) throws -> Device {
    let device = try device()
    try blocking { [session] in
      for number in 1..<count {
        let other = try await ReplicaStore.inMemory(schema: [Item.self])
        try await other.write(number)
        _ = try await other.sync(scope: ServedHub.scope) {
          await session.answer($0)
        }
      }
      try await device.save(0)
      // The first pass receives the saves, and the next one shows them.
      for _ in 0..<2 { try await device.sync() }
    }
    return device
  }

  /// Returns the seconds that a new device needs to receive all records.
  func timeOfEngine(expecting count: Int) async throws -> Double {
    let device = try device()
    return try await device.time(expecting: count) {
      if await device.engine.sync().first?.isSynced != true {
        throw HarnessError("the load did not end")
      }
    }
  }

  /// Returns the seconds of `sync` without an engine and without HTTP.
  func timeOfLoop(expecting count: Int) async throws -> Double {
    let device = try device()
    return try await device.time(expecting: count) { [session] in
      let result = try await device.store.sync(scope: ServedHub.scope) {
        await session.answer($0)
      }
      if !result.isSynced { throw HarnessError("the load did not end") }
    }
  }
}

/// A device with a store in a file and an engine.
private final class Device: Sendable {
  let store: ReplicaStore
  let engine: SyncEngine
  let path: String
  private let folder: Folder

  init(_ route: SyncRoute) throws {
    let folder = try Folder()
    let path = folder.file("store.sqlite")
    store = try blocking {
      try await ReplicaStore(at: path, schema: [Item.self])
    }
    engine = SyncEngine(store, routes: [route])
    (self.folder, self.path) = (folder, path)
  }

  func save(_ number: Int) async throws { try await store.write(number) }

  /// Performs a pass.
  func sync() async throws {
    let status = await engine.sync().first
    if let problem = status?.problem { throw HarnessError(problem) }
    if status?.isSynced != true { throw HarnessError("a pass did not end") }
  }

  /// Returns the seconds of a load of records.
  func time(
    expecting count: Int, _ load: () async throws -> Void
  ) async throws -> Double {
    let time = try await seconds(load)
    let found = await store.read { $0.recordCount(of: Item.self) }
    if found != count { throw HarnessError("\(found) records arrived") }
    try await store.close()
    return time
  }
}

extension ReplicaStore {
  /// Changes a field of one record.
  fileprivate func write(_ number: Int) throws {
    try save { $0[Item.self, "saved"].f0 = "\(number)" }
  }
}

/// Two devices of a hub, and a third one whose saves stay there.
private final class ShowingLine: Sendable {
  private let hub: ServedHub
  private let (one, other, alone): (Device, Device, Device)
  private let echo: LoopbackServer
  private let client = URLSession(configuration: .ephemeral)
  private let count = Counted()

  /// A number that one task at a time uses.
  private final class Counted: @unchecked Sendable { var value = 0 }

  init() throws {
    hub = try ServedHub()
    (one, other, alone) = (
      try hub.device(), try hub.device(), try hub.device()
    )
    echo = try LoopbackServer { $0 }
    // The devices know each other and the hub afterwards.
    try blocking { [self] in
      for _ in 0..<3 {
        try await showSave()
        try await saveAndTravel()
      }
    }
  }

  deinit { client.invalidateAndCancel() }

  /// Saves on one device and reads the save on the other one.
  func showSave() async throws {
    count.value += 1
    let number = count.value
    try await one.save(number)
    try await one.sync()
    try await other.sync()
    let shown = await other.store.read { $0[Item.self, "saved"]?.f0 }
    if shown != "\(number)" {
      throw HarnessError("the other device lacks the save")
    }
  }

  /// Saves on a device, and sends a short body to a server and back twice.
  func saveAndTravel() async throws {
    count.value += 1
    try await alone.save(count.value)
    for _ in 0..<2 {
      var request = URLRequest(url: echo.url)
      request.httpMethod = "POST"
      request.httpBody = Data(repeating: 7, count: 200)
      let count: Int = try await withCheckedThrowingContinuation { result in
        client.dataTask(with: request) { data, _, error in
          result.resume(
            with: error.map { .failure($0) } ?? .success(data?.count ?? 0))
        }.resume()
      }
      if count != 200 { throw HarnessError("the server did not answer") }
    }
  }
}

/// The number of files that other connections changed.
private final class DataVersions {
  private var versions: [Int64] = []
  private let connections: [SQLiteConnection]

  init(of paths: [String]) throws {
    connections = try paths.map { try SQLiteConnection(opening: $0) }
    _ = try changes()
  }

  /// Returns the number of files with a write since the last call.
  func changes() throws -> Int {
    let before = versions
    versions = try connections.map { connection in
      var version = 0 as Int64
      try connection.run("PRAGMA data_version", []) { version = $0.integer(0) }
      return version
    }
    return zip(before, versions).count { $0 != $1 }
  }
}
