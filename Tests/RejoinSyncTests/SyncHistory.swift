// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinSync

/// How often each event happened.
struct SyncCounts {
  var calls = 0
  var exchanges = 0
  var lost = 0
  var repeated = 0
  var late = 0
  var echoes = 0
  var crashes = 0
  var restores = 0
  var hubRestores = 0
  var lostDevices = 0
  var uploaded = 0
  var refused = 0
  var wrongHints = 0
  /// The most exchanges of a call without faults.
  var longestCall = 0

  mutating func add(_ other: SyncCounts) {
    for count in [
      \SyncCounts.calls, \.exchanges, \.lost, \.repeated, \.late, \.echoes,
      \.crashes, \.restores, \.hubRestores, \.lostDevices, \.uploaded,
      \.refused,
      \.wrongHints,
    ] { self[keyPath: count] += other[keyPath: count] }
    longestCall = max(longestCall, other.longestCall)
  }
}

/// A random history of devices that sync with each other and with a hub.
///
/// Each save adds a tag of its own to a few records, and nothing is removed. So a
/// replica has a save if it has its tag in all of these records. The fields of a
/// save that a lost device sent in part can be in some of the replicas.
final class SyncHistory {
  /// A tag in a record.
  struct Tag: Hashable { let record, tag: String }

  final class Device {
    let name: String
    let path: String
    var store: ReplicaStore
    var isReader = false
    var backups: [String] = []
    var hints: [String: [ReplicaVersion]] = [:]

    init(_ name: String, _ path: String, _ store: ReplicaStore) {
      (self.name, self.path, self.store) = (name, path, store)
    }

    var tags: Set<Tag> {
      get async {
        await store.read { view in
          Set(
            view.records(of: Item.self).flatMap { record in
              record.tags.map { Tag(record: record.id, tag: $0) }
            })
        }
      }
    }
  }

  private struct Lost: Error {}

  private let suite: SyncSuite
  private var random: SeededRandom
  private var devices: [Device] = []
  private var names = 0
  private var tagCount = 0
  /// The tags of each save.
  private var saves: [Dot: Set<Tag>] = [:]
  private var hub: Hub
  private var hubPath: String
  private let seed: UInt64
  private var hubDumps: [String] = []
  private(set) var counts = SyncCounts()
  /// Earlier answers, by the device that asked and the peer.
  private var old: [String: [[UInt8]]] = [:]

  init(_ seed: UInt64, in suite: SyncSuite) async throws {
    (self.suite, random, self.seed) = (suite, SeededRandom(seed: seed), seed)
    hubPath = "hub \(seed)"
    hub = try await suite.hub(hubPath)
    for _ in 0..<3 { try await addDevice() }
    if random.chance(percent: 25) { devices[0].isReader = true }
  }

  private func addDevice() async throws {
    names += 1
    let path = "device \(seed) \(names)"
    devices.append(Device(path, path, try await suite.store(path)))
  }

  private func pick<Element>(_ list: [Element]) -> Element {
    list[random.number(below: list.count)]
  }

  func run() async throws {
    for _ in 0..<(30 + random.number(below: 60)) {
      switch random.number(below: 100) {
      case ..<40: try await save(pick(devices))
      case ..<82: try await call()
      case ..<86: try await crash(pick(devices))
      case ..<91: try await backUp()
      case ..<95: try await restore()
      case ..<98: try await dumpOrRestoreHub()
      default: try await loseDevice()
      }
    }
    try await checkEnd()
  }

  private func save(_ device: Device) async throws {
    tagCount += 1
    let tag = "t\(tagCount)"
    let keys = (0..<(1 + random.number(below: 3))).map { _ in
      "r\(random.number(below: 10))"
    }
    let report = try await device.store.save { transaction in
      for key in keys { transaction[Item.self, key].tags.insert(tag) }
    }.report
    let dot = try #require(report.dot)
    // A save that never left a device and is not in its backup may be made again.
    for former in saves[dot] ?? [] {
      for device in devices {
        let isGone = await !device.tags.contains(former)
        #expect(isGone, "two saves have one dot")
      }
    }
    saves[dot] = Set(keys.map { Tag(record: $0, tag: tag) })
  }

  /// The tags of the saves that a version has.
  private func tags(in version: ReplicaVersion) -> Set<Tag> {
    saves.reduce(into: []) { tags, save in
      if version.vectorClock.contains(save.key) { tags.formUnion(save.value) }
    }
  }

  // Exchanges.

  /// The peer of a device: another device, or the hub for `nil`.
  private func answer(
    _ request: [UInt8], of asker: Device, from peer: Device?
  ) async -> [UInt8] {
    if let peer { return await peer.store.answer(request, scope: "s") }
    let isReader = asker.isReader
    let session = hub.makeSession { request in
      if case .write = request, isReader { throw Refused() }
    }
    return await session.answer(request)
  }

  struct Refused: Error {}

  private func key(_ asker: Device, _ peer: Device?) -> String {
    "\(asker.name) \(peer?.name ?? "hub")"
  }

  /// A call that faults disturb.
  private func call() async throws {
    let asker = pick(devices)
    let others = devices.filter { $0 !== asker }
    let peer = random.chance(percent: 60) ? nil : pick(others)
    counts.calls += 1
    var hint: ReplicaVersion?
    let hints = asker.hints[peer?.name ?? "hub"] ?? []
    if random.chance(percent: 70), !hints.isEmpty {
      hint = random.chance(percent: 80) ? hints.last : pick(hints)
    }
    if random.chance(percent: 5) {
      hint = await pick(devices).store.version
      counts.wrongHints += 1
    }
    let limit = pick([1, 60, 200, 1_000, 100_000])
    let result: SyncResult
    do {
      result = try await sync(asker, peer, hint, limit) { request in
        try await self.faultyAnswer(request, of: asker, from: peer)
      }
    } catch is Lost { return } catch is WireError { return }
    asker.hints[peer?.name ?? "hub", default: []].append(result.peerVersion)
    if result.uploadRefusal != nil { counts.refused += 1 }
  }

  /// The faults are decided on the thread of the history, which waits.
  private func sync(
    _ asker: Device, _ peer: Device?, _ hint: ReplicaVersion?, _ limit: Int,
    _ ask: @escaping ([UInt8]) async throws -> [UInt8]
  ) async throws -> SyncResult {
    nonisolated(unsafe) let ask = ask
    return try await asker.store.sync(
      scope: "s", bytesPerPart: limit, assuming: hint
    ) { request in
      try await ask(request)
    }
  }

  private func faultyAnswer(
    _ request: [UInt8], of asker: Device, from peer: Device?
  ) async throws -> [UInt8] {
    counts.exchanges += 1
    let key = key(asker, peer)
    let fault = random.number(below: 100)
    if fault < 5 {
      counts.lost += 1
      throw Lost()
    }
    if fault < 7 {
      counts.echoes += 1
      return request
    }
    if fault < 15, let late = old[key], !late.isEmpty {
      counts.late += 1
      // The request arrives nevertheless.
      _ = await answer(request, of: asker, from: peer)
      return pick(late)
    }
    if random.chance(percent: 15) {
      // Others save meanwhile.
      try await save(pick(devices))
    }
    var answer = await answer(request, of: asker, from: peer)
    if fault < 25 {
      counts.repeated += 1
      answer = await self.answer(request, of: asker, from: peer)
    }
    if fault < 30 {
      counts.lost += 1
      throw Lost()
    }
    old[key, default: []].append(answer)
    return answer
  }

  // Faults of devices and the hub.

  private func crash(_ device: Device) async throws {
    counts.crashes += 1
    try await device.store.close()
    device.store = try await suite.store(device.path)
  }

  private func backUp() async throws {
    let device = pick(devices)
    let copy = "backup \(UUID())"
    try await device.store.backup(to: suite.path(copy))
    device.backups.append(copy)
  }

  private func restore() async throws {
    let device = pick(devices)
    guard let copy = device.backups.last else { return }
    counts.restores += 1
    try await device.store.close()
    let files = FileManager.default
    for end in ["", "-wal", "-shm"] {
      try? files.removeItem(atPath: suite.path(device.path + end))
    }
    try files.copyItem(
      atPath: suite.path(copy), toPath: suite.path(device.path))
    device.store = try await suite.store(device.path)
  }

  private func dumpOrRestoreHub() async throws {
    let files = FileManager.default
    if hubDumps.isEmpty || random.chance(percent: 60) {
      let copy = "dump \(UUID())"
      let connection = try SQLiteConnection(opening: suite.path(hubPath))
      try connection.run("VACUUM INTO '\(suite.path(copy))'")
      hubDumps.append(copy)
      return
    }
    counts.hubRestores += 1
    hubPath = "hub \(UUID())"
    try files.copyItem(
      atPath: suite.path(hubDumps.removeLast()), toPath: suite.path(hubPath))
    hub = try await suite.hub(hubPath)
  }

  private func loseDevice() async throws {
    if names > 5 { return }
    counts.lostDevices += 1
    let lost = devices.remove(at: random.number(below: devices.count))
    try await lost.store.close()
    try await addDevice()
    devices[devices.count - 1].isReader = lost.isReader
  }

  // The end.

  private func tags(of peer: Device?) async throws -> Set<Tag> {
    if let peer { return await peer.tags }
    let copy = try await ReplicaStore.inMemory(schema: [Item.self])
    let session = hub.makeSession { _ in }
    try await copy.sync(scope: "s") { await session.answer($0) }
    return await Device("", "", copy).tags
  }

  /// Calls without faults.
  private func calmCall(
    _ asker: Device, _ peer: Device?
  ) async throws -> (result: SyncResult, exchanges: Int, parts: Int) {
    var (exchanges, parts) = (0, 0)
    let result = try await sync(
      asker, peer, asker.hints[peer?.name ?? "hub"]?.last,
      pick([1, 60, 200, 100_000])
    ) { request in
      exchanges += 1
      try #require(exchanges < 400, "a call does not end")
      let answer = await self.answer(request, of: asker, from: peer)
      for bytes in [request, answer] {
        parts += try SyncMessage(decoding: bytes).part == nil ? 0 : 1
      }
      return answer
    }
    counts.longestCall = max(counts.longestCall, exchanges)
    asker.hints[peer?.name ?? "hub", default: []].append(result.peerVersion)
    return (result, exchanges, parts)
  }

  private func checkEnd() async throws {
    var isRefused = false
    for round in 0... {
      try #require(round < 12, "the rounds do not end")
      var moved = false
      for asker in devices {
        for peer in [nil] + devices.filter({ $0 !== asker }) as [Device?] {
          let (result, _, parts) = try await calmCall(asker, peer)
          moved = moved || parts > 0
          // The download is complete even if the upload is refused.
          let (own, others) = (await asker.tags, try await tags(of: peer))
          let isComplete = own.isSuperset(of: tags(in: result.peerVersion))
          #expect(isComplete)
          if result.isUploaded {
            counts.uploaded += 1
            let version = await asker.store.version
            let isTrue = others.isSuperset(of: tags(in: version))
            #expect(isTrue, "uploaded is a lie")
          }
          isRefused = isRefused || result.uploadRefusal != nil
          if result.uploadRefusal == nil { #expect(result.isSynced) }
        }
      }
      if !moved || isRefused && round > 3 { break }
    }
    for asker in devices where !asker.isReader {
      let (result, exchanges, parts) = try await calmCall(asker, nil)
      #expect(
        result.isSynced && exchanges == 1 && parts == 0, "an idle call")
    }
    let all = tags(in: await devices[0].store.version)
    for device in devices {
      let version = await device.store.version
      let isComplete = await device.tags.isSuperset(of: tags(in: version))
      let isEqual = tags(in: version) == all
      #expect(isComplete && (isEqual || isRefused))
    }
  }
}
