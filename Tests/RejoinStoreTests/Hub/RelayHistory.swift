// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

/// A random history of devices with a hub.
///
/// It has saves, interrupted uploads, downloads and direct transfers, lost
/// devices and new devices.
struct RelayHistory {
  enum Kind: CaseIterable {
    /// The devices meet only at the hub.
    case hubOnly
    /// The devices also meet directly.
    case direct
    /// The devices also meet directly, and the hub takes only own saves.
    case ownSavesOnly
    /// The devices also meet directly, and some use the ID of another.
    case forked
  }

  struct Item: Entity {
    let title = register("title", of: String.self)
    let count = counter("count")
    let tags = set("tags", of: String.self)
  }

  struct Refused: Error {}

  private let kind: Kind
  private let connection: SQLiteConnection
  private let hub: HubConnection
  private let clock = ManualClock()
  private var random: SeededRandom
  private var devices: [Replica] = []
  private var made: UInt64 = 10

  init(seed: Int, _ kind: Kind) throws {
    self.kind = kind
    connection = try SQLiteConnection(opening: ":memory:")
    hub = try HubConnection(connection, makeDeviceID: { DeviceID(1) })
    random = SeededRandom(seed: UInt64(seed))
    for _ in 0..<3 { addDevice() }
  }

  /// Makes random steps, and checks that the remaining devices receive all of
  /// their saves.
  mutating func run() throws {
    for _ in 0..<30 { try step() }
    addDevice()
    let before = devices
    for _ in 0..<6 {
      for device in devices { try sync(device, cutting: 0) }
      // A save of each history under one number shows a fork.
      if kind == .forked { for device in devices { try save(device) } }
    }
    let summary = try StoreSummary(of: connection, checksPages: true)
    #expect(summary.faults == [])
    switch kind {
    case .hubOnly, .direct: expectAll(before)
    case .ownSavesOnly: try expectOwnSaves()
    // Devices may keep different values of two saves with one number.
    case .forked: break
    }
  }

  private mutating func step() throws {
    let i = random.number(below: devices.count)
    switch random.number(below: 12) {
    case 0..<5: try save(devices[i])
    case 5..<9: try sync(devices[i], cutting: 35)
    case 9 where kind == .forked && random.chance(percent: 40):
      devices.append(
        Replica(
          resuming: devices[i].state, schema: [Item.self],
          wallClock: clock.wallClock, makeDeviceID: makeDeviceID()))
    case 9 where devices.count > 2: devices.remove(at: i)
    case 9: addDevice()
    default:
      if kind == .hubOnly { return }
      let other = devices[(i + 1) % devices.count]
      while let part = devices[i].delta(since: other.version, byteLimit: 60),
        !random.chance(percent: 40), other.apply(part).hasAdvanced
      {}
    }
  }

  private mutating func addDevice() {
    let device = makeDeviceID()
    devices.append(
      Replica(
        device: device(), schema: [Item.self], wallClock: clock.wallClock,
        makeDeviceID: device))
  }

  /// Returns a function that returns new device IDs.
  private mutating func makeDeviceID() -> @Sendable () -> DeviceID {
    made += 1
    let (source, count) = (made, Locked(UInt64(0)))
    return {
      count.withLock {
        $0 += 1
        return DeviceID(high: source, low: $0)
      }
    }
  }

  private mutating func save(_ device: Replica) throws {
    clock.now += 1
    try device.save { transaction in
      for _ in 0...random.number(below: 4) {
        let item = transaction[Item.self, "\(random.number(below: 6))"]
        switch random.number(below: 5) {
        case 0, 1: item.title = "\(device.device) \(random.number(below: 100))"
        case 2: item.count.increment()
        case 3: item.tags.insert("\(random.number(below: 5))")
        default:
          // Large sets travel as fragments.
          for _ in 0..<40 { item.tags.insert("\(random.number(below: 200))") }
        }
      }
    }
  }

  /// Sends and receives parts until one is lost.
  private mutating func sync(_ device: Replica, cutting percent: Int) throws {
    let limit = random.pick([1, 60, 200, 4_000])
    var parts = 0
    func checkEnd() throws {
      parts += 1
      try #require(parts < 600, "an exchange does not end")
    }
    let own: Set<DeviceID>? = kind == .ownSavesOnly ? device.ownDevices : nil
    do {
      while let part = device.delta(
        since: try hub.version(of: "s"), byteLimit: limit)
      {
        try checkEnd()
        if random.chance(percent: percent) { return }
        let change = HubChange.join(part) { write in
          if let own, !write.devices.isSubset(of: own) { throw Refused() }
        }
        guard try hub.make(change, in: "s").hasAdvanced else { break }
      }
    } catch is Refused {}
    _ = try hub.recordVersion(device.version, of: device.device, in: "s")
    while let part = try hub.delta(
      since: device.version, byteLimit: limit, in: "s")
    {
      try checkEnd()
      if random.chance(percent: percent) { return }
      guard device.apply(part).hasAdvanced else { break }
    }
  }

  /// Expects that all devices are equal, and have the counts and the elements
  /// that any of them had before.
  private func expectAll(_ before: [Replica]) {
    let first = devices[0]
    for device in devices {
      #expect(device.version.prefixes == first.version.prefixes)
      #expect(device.delta()?.changes == first.delta()?.changes)
    }
    for i in 0..<6 {
      for device in before {
        guard let item = device[Item.self, "\(i)"] else { continue }
        let all = first[Item.self, "\(i)"]
        let tags = Set(all?.tags ?? [])
        #expect(all?.count ?? 0 >= item.count)
        #expect(tags.isSuperset(of: item.tags))
      }
    }
  }

  /// Expects that the hub has the saves of each device, unless an edit saw a
  /// save that the hub refuses.
  private func expectOwnSaves() throws {
    let version = try hub.version(of: "s").vectorClock
    for device in devices {
      let own = device.device
      if device.version[own].sequence == version[own] { continue }
      let clocks =
        device.delta()?.changes.flatMap(\.fields.values)
        .map(\.clock) ?? []
      let depends = clocks.contains { clock in
        clock[own] > version[own]
          && clock.entries.contains {
            $0.device != own && $0.count > version[$0.device]
          }
      }
      #expect(depends, "the saves of \(own) are stuck")
    }
  }
}
