// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import Foundation
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting

@testable import RejoinSync
@testable import _RejoinVerification

/// A random history of devices that meet in a zone of iCloud, a folder, a hub and with
/// each other.
///
/// Calls to the zone fail before and after their effect, pages are short, tokens expire,
/// staged files disappear, records are damaged and lost, the zone is deleted, users come
/// and go, and processes are killed. Each save inserts an element of its own, so what a
/// device really has follows from its elements.
final class PlaceTrial {
  private static let day: Int64 = 86_400_000

  /// The numbers of events.
  struct Counts {
    var saves = 0, passes = 0, objects = 0, faults = 0, uploads = 0
    var deletedZones = 0, resumed = 0, accounts = 0, killed = 0, restarts = 0
    var damaged = 0, lost = 0, hubs = 0, met = 0, readers = 0

    private static var paths: [(String, WritableKeyPath<Counts, Int>)] {
      [
        ("saves", \.saves), ("passes", \.passes), ("objects", \.objects),
        ("failed passes", \.faults), ("uploads checked", \.uploads),
        ("zones deleted", \.deletedZones), ("resumptions", \.resumed),
        ("other accounts", \.accounts), ("passes killed", \.killed),
        ("launches", \.restarts), ("records damaged", \.damaged),
        ("lost", \.lost), ("hubs lost", \.hubs), ("meetings", \.met),
        ("refused uploads", \.readers),
      ]
    }

    var all: [Int] { Self.paths.map { self[keyPath: $0.1] } }

    var text: String {
      Self.paths.map { "\(self[keyPath: $0.1]) \($0.0)" }.joined(
        separator: ", ")
    }

    mutating func add(_ other: Counts) {
      for (_, path) in Self.paths {
        self[keyPath: path] += other[keyPath: path]
      }
    }
  }

  private var random: SeededRandom
  private let server = StandInServer()
  private let folder: SharedStorage
  private let clock = ManualTime()
  private let draws: Locked<SeededRandom>
  private let history = Locked(ObjectHistory())
  private var devices: [PlaceTrialDevice] = []
  private var deviceCount = 0
  private var hub: Hub
  private let losesRecords: Bool
  private let isShared: Bool
  private var counts = Counts()

  init(seed: UInt64) async throws {
    random = SeededRandom(seed: seed)
    draws = Locked(SeededRandom(seed: ~seed))
    folder = SharedStorage(isDrive: random.chance(percent: 50))
    losesRecords = random.chance(percent: 30)
    isShared = random.chance(percent: 40)
    hub = try await Self.makeHub()
    var open = StandInServer.OpenQuestions()
    open.listsOldDeletions = random.chance(percent: 50)
    open.repeatsDeletedRecords = random.chance(percent: 50)
    open.listsDeletionsFirst = random.chance(percent: 50)
    open.deletesMissingRecords = random.chance(percent: 50)
    open.reportsZoneByItem = random.chance(percent: 50)
    open.throwsErrorOfItem = random.chance(percent: 50)
    open.acceptsOldTokens = random.chance(percent: 30)
    let limits = (
      pages: 1 + random.number(below: 12), rate: random.number(below: 12)
    )
    server.set { state in
      state.openQuestions = open
      state.pageLimit = limits.pages
      state.schema = [
        "RejoinObject": Set(["size"] + (0..<8).map { "bytes\($0)" })
      ]
      state.faults.rate = limits.rate
      state.faults.shortPages = 20
      state.faults.lostFiles = 5
      state.faults.failedRecords = 5
      state.faults.expiredTokens = 5
      state.faults.seed = seed
    }
    for _ in 0..<3 { try await add() }
  }

  private static func makeHub() async throws -> Hub {
    try await Hub(connections: 1) { try SQLiteConnection(opening: ":memory:") }
  }

  /// Lets things happen, and then checks that all devices and two new ones agree.
  func run() async throws -> Counts {
    for step in 0..<(30 + random.number(below: 30)) {
      try await act()
      if step % 6 == 0 { try await checkHistory() }
    }
    try await settle()
    return counts
  }

  /// Returns the user of a device, which is the owner of the zone for the first one.
  private func user(of number: Int) -> String {
    isShared && number % 2 == 1 ? "bea" : "anna"
  }

  private func add() async throws {
    let number = deviceCount
    deviceCount += 1
    let store = try await ReplicaStore.inMemory(schema: [PlaceItem.self])
    let user = user(of: number)
    devices.append(
      PlaceTrialDevice(
        number, store, zone: server.device(of: user), isShared: user != "anna",
        folder: folder.view(of: number)))
  }

  private var time: SyncTime {
    SyncTime(
      now: { [clock] in clock.now }, uptime: { [clock] in clock.uptime },
      wait: { _ in },
      random: { [draws] bound in
        draws.withLock { Int64($0.next() >> 1) % max(bound, 1) }
      })
  }
}

// Steps.
extension PlaceTrial {
  private func act() async throws {
    if isShared, random.chance(percent: 20) {
      let isReader = random.chance(percent: 40)
      server.share(
        "list", of: "anna", with: "bea", isReader ? .readOnly : .readWrite)
    }
    let device = devices[random.number(below: devices.count)]
    switch random.number(below: 100) {
    case ..<28: try await save(on: device)
    case ..<58: try await passZone(of: device)
    case ..<68: try await passFolder(of: device)
    case ..<74: try await passHub(of: device)
    case ..<79:
      try await meet(device, devices[random.number(below: devices.count)])
    case ..<83:
      var draws = SeededRandom(seed: random.next())
      folder.state.withLock { state in
        state.travel {
          draws.chance(percent: 85) ? draws.number(below: $0) : nil
        }
      }
    case ..<86:
      clock.advance(by: Self.day / 2 + Int64(random.number(below: 40_000_000)))
    case ..<88:
      device.restart()
      counts.restarts += 1
    case ..<89: deleteZone()
    case ..<92: resume(device)
    case ..<94: try await visit(device)
    case ..<98: loseRecord()
    case ..<99:
      hub = try await Self.makeHub()
      counts.hubs += 1
    default:
      server.expireTokens()
    }
  }

  private func save(on device: PlaceTrialDevice) async throws {
    counts.saves += 1
    var places: [(record: Int, field: Int)] = []
    for _ in 0..<random.pick([1, 1, 2, 4]) {
      places.append((random.number(below: 10), random.number(below: 2)))
    }
    let made = places
    try await device.store.withReplica { [history] replica in
      try history.withLock { try $0.save(made, on: replica) }
    }
  }

  private func deleteZone() {
    if server.zones(of: "anna").isEmpty { return }
    server.deleteZone(
      "list", of: "anna", inSettings: random.chance(percent: 50))
    counts.deletedZones += 1
  }

  private func resume(_ device: PlaceTrialDevice) {
    device.zone.needsDecision = false
    device.zone.memory.isResumed = true
    device.zone.isRefused = false
    counts.resumed += 1
  }

  /// Lets another user sign in for one pass.
  private func visit(_ device: PlaceTrialDevice) async throws {
    if device.zone.memory.identity == nil { return }
    server.signIn(
      random.chance(percent: 30) ? nil : "eve", on: device.container)
    server.set { $0.calls = [] }
    let error = try await passZone(of: device)
    let calls = server.set(\.calls)
    if !calls.allSatisfy({ $0 == .account }) {
      throw PlaceFault("\(calls) with another account")
    }
    if error == nil, !calls.isEmpty {
      throw PlaceFault("a pass with another account succeeds")
    }
    if !server.zones(of: "eve").isEmpty {
      throw PlaceFault("another account has a zone")
    }
    server.signIn(user(of: device.number), on: device.container)
    device.zone.needsDecision = false
    counts.accounts += 1
  }

  private func loseRecord() {
    guard losesRecords,
      let name = server.records(in: "list", of: "anna").randomElement(
        using: &random)
    else { return }
    let kind = random.number(below: 4)
    switch kind {
    case 0: server.delete(name, in: "list", of: "anna")
    case 1:
      server.change(name, in: "list", of: "anna") { $0.assets = [:] }
    case 2:
      server.change(name, in: "list", of: "anna") { content in
        content.assets["bytes0"] = content.assets["bytes0"]?.dropLast(3)
      }
    default:
      server.change(name, in: "list", of: "anna") { $0.values = [:] }
    }
    if kind == 0 { counts.lost += 1 } else { counts.damaged += 1 }
  }

  private func meet(_ one: PlaceTrialDevice, _ other: PlaceTrialDevice)
    async throws
  {
    if one === other { return }
    counts.met += 1
    let version = await one.store.version
    if let delta = try await other.store.delta(since: version) {
      try await one.store.apply(delta)
    }
  }
}

// Passes.
extension PlaceTrial {
  /// Performs a pass over the zone.
  ///
  /// - Returns: The error of the pass.
  @discardableResult
  private func passZone(
    of device: PlaceTrialDevice, withoutFaults: Bool = false
  ) async throws -> (any Error)? {
    if device.zone.needsDecision { return SyncRefusal.gone }
    let isFirst =
      device.zone.memory.identity == nil && device.zone.memory.scope == nil
    let mayCreate =
      (isFirst || device.zone.memory.isResumed)
      && user(of: device.number) == "anna"
    let before = await device.store.version
    let first = server.set { $0.calls.count }
    let killed =
      !withoutFaults && random.chance(percent: 8)
      ? 1 + random.number(below: 9) : nil
    server.set { [server] state in
      state.failAfter = { _, _ in
        if let killed, server.set({ $0.calls.count }) - first >= killed {
          throw CancellationError()
        }
      }
    }
    counts.passes += 1
    var failure: (any Error)?
    do {
      let result = try await device.store.sync(
        scope: "s", objects: device.zone.storage,
        remembering: &device.zone.memory,
        uploads: !device.zone.isRefused || random.chance(percent: 10), time
      ) { _ in }
      device.zone.isRefused = result.uploadRefusal != nil
      if result.uploadRefusal != nil { counts.readers += 1 }
      if result.isUploaded { try checkUpload(of: before, by: device) }
    } catch {
      failure = error
      counts.faults += 1
      if error as? SyncRefusal == .gone || error as? SyncRefusal == .wrongScope
      {
        device.zone.needsDecision = true
      }
    }
    server.set { $0.failAfter = { _, _ in } }
    let calls = server.set { $0.calls.dropFirst(first) }
    counts.objects += calls.count { $0 == .save }
    if calls.contains(.saveZone), !mayCreate {
      throw PlaceFault("device \(device.number) creates the zone again")
    }
    if failure is CancellationError {
      counts.killed += 1
      device.restart()
    }
    return failure
  }

  /// Checks that the zone has the saves that a device shows as uploaded.
  private func checkUpload(
    of version: ReplicaVersion, by device: PlaceTrialDevice
  ) throws {
    // A device learns late of a record that is lost. The same holds for a zone that was
    // created again, if the server takes an old token.
    if losesRecords || server.set(\.openQuestions.acceptsOldTokens) { return }
    counts.uploads += 1
    let replica = Replica(
      device: DeviceID(0), schema: ObjectHistory.schema,
      wallClock: WallClock { 0 }, makeDeviceID: { DeviceID(1) })
    for name in server.records(in: "list", of: "anna") {
      let bytes = server.content(of: name, in: "list", of: "anna").assets[
        "bytes0"]
      let message = try bytes.map { try SyncMessage(decoding: Array($0)) }
      if let part = message?.part { replica.apply(part) }
    }
    if version.saveCount(beyond: replica.version) > 0 {
      throw PlaceFault(
        "the zone lacks saves that device \(device.number) uploaded")
    }
  }

  private func passFolder(of device: PlaceTrialDevice) async throws {
    _ = try await device.store.sync(
      scope: "s", objects: device.folder.storage,
      remembering: &device.folder.memory, uploads: true, time
    ) { _ in }
  }

  private func passHub(of device: PlaceTrialDevice) async throws {
    let session = hub.makeSession { _ in }
    try await device.store.sync(scope: "s") { await session.answer($0) }
  }
}

// Ends.
extension PlaceTrial {
  private func checkHistory() async throws {
    for device in devices {
      let name = "device \(device.number)"
      try await device.store.read { [history] view in
        try history.withLock { try $0.check(view.replica, name) }
      }
    }
  }

  /// After the faults end, all devices get all saves, and so do new ones from each place
  /// alone.
  private func settle() async throws {
    server.set { $0.faults = StandInServer.Faults() }
    for device in devices {
      // A list of a former zone can last until the next launch.
      if server.set(\.openQuestions.acceptsOldTokens) { device.restart() }
      resume(device)
    }
    try await passUntilIdle()
    let version = await devices[0].store.version
    if losesRecords {
      // A new device can find a record damaged that the others read before.
      _ = try await newDevice()
      try await passUntilIdle()
    } else {
      for place in 0..<3 {
        let device = try await newDevice()
        switch place {
        case 0:
          try await passZone(of: device, withoutFaults: true).map { throw $0 }
        case 1: try await passFolder(of: device)
        default: try await passHub(of: device)
        }
        try await check(device, against: version, "in place \(place)")
      }
    }
    for device in devices {
      try await check(device, against: version, "at the end")
    }
    try await checkHistory()
  }

  private func check(
    _ device: PlaceTrialDevice, against version: ReplicaVersion, _ what: String
  ) async throws {
    if await device.store.version.vectorClock != version.vectorClock {
      throw PlaceFault("device \(device.number) differs \(what)")
    }
  }

  /// Lets each device visit all places until nothing changes.
  private func passUntilIdle() async throws {
    var (rounds, idle) = (0, 0)
    while idle < 2 {
      rounds += 1
      if rounds > 16 { throw PlaceFault("the passes do not end") }
      clock.advance(by: Self.day + 3_600_000)
      let before = (await versions(), objects)
      for device in devices {
        // A zone is shared again after its owner created it.
        if isShared {
          server.share("list", of: "anna", with: "bea", .readWrite)
        }
        folder.state.withLock { $0.settle() }
        let error = try await passZone(of: device, withoutFaults: true)
        if let error {
          guard error as? SyncRefusal == .gone else { throw error }
          resume(device)
        }
        try await passFolder(of: device)
        try await passHub(of: device)
      }
      let isMoved = await versions() != before.0 || objects != before.1
      idle = isMoved ? 0 : idle + 1
    }
  }

  /// The names of the objects with saves in the zone.
  private var objects: [String] {
    server.records(in: "list", of: "anna").filter { $0.hasSuffix(".rejoin") }
  }

  private func newDevice() async throws -> PlaceTrialDevice {
    try await add()
    guard let device = devices.last else { throw PlaceFault("no device") }
    return device
  }

  private func versions() async -> [ReplicaVersion] {
    var versions: [ReplicaVersion] = []
    for device in devices { versions.append(await device.store.version) }
    return versions
  }
}
