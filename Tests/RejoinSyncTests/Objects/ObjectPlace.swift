// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSync
import RejoinTesting
import _RejoinVerification

/// Some devices, a storage and the time.
struct ObjectPlace {
  static let minute: Int64 = 60_000
  static let day: Int64 = 86_400_000

  var storage: FaultyStorage
  let clock = ManualClock(1_000_000_000)
  var devices: [MeetingDevice] = []
  var nonces: UInt64 = 0

  init(drive: Bool = false, devices count: Int = 0) {
    storage = FaultyStorage(isDrive: drive)
    for _ in 0..<count { add() }
  }

  @discardableResult
  mutating func add() -> Int {
    let number = devices.count
    let clock = clock.wallClock
    storage.add(number)
    devices.append(
      MeetingDevice(
        number,
        Replica(
          device: DeviceID(UInt64(number + 1)), schema: [PlacedNote.self],
          wallClock: clock,
          makeDeviceID: { DeviceID(UInt64(number + 101)) })))
    return number
  }

  func write(_ text: String, to key: String = "1", on i: Int) throws {
    try devices[i].replica.save {
      $0[PlacedNote.self, key].elements.insert(text)
    }
  }

  func elements(_ i: Int, of key: String = "1") -> Set<String> {
    Set(devices[i].replica[PlacedNote.self, key]?.elements ?? [])
  }

  /// The names of the objects of saves on the server, in their order.
  var names: [String] {
    storage.objects.keys.filter { $0.hasSuffix(".rejoin") }.sorted()
  }

  /// Performs a pass.
  ///
  /// - Returns: The number of objects with saves that were read, and all that were
  ///   stored and deleted.
  @discardableResult
  mutating func pass(
    _ i: Int, publishes: Bool = true
  ) throws -> (read: Int, stored: [ObjectName], deleted: [ObjectName]) {
    var pass = try devices[i].pass(over: storage, at: clock.now)
    let read = try devices[i].read(storage, &pass).count {
      $0.interval != nil
    }
    guard publishes else { return (read, [], []) }
    var draws = SeededRandom(seed: nonces)
    nonces += 1
    let stored = try devices[i].publish(&storage, &pass) {
      $0 == .max ? Int64(draws.next() >> 1) : $0
    }
    return (read, stored, try devices[i].collect(&storage, &pass))
  }

  mutating func days(_ count: Int64) {
    clock.now += count * Self.day
  }

  mutating func restart(_ i: Int) { devices[i].restart() }
}

struct PlacedNote: Entity {
  let elements = set("elements", of: String.self)
}
