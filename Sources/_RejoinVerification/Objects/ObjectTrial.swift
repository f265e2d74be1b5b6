// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync
import RejoinTesting

/// Random days of devices that meet in a bucket or in a drive, and now and then
/// elsewhere.
///
/// Files are damaged and lost, processes are killed while they store an object, backups
/// are restored, devices are copied with their ID, and one is lost. At the end, every
/// device has all saves, and so has a new one.
package struct ObjectTrial {
  private static let day: Int64 = 86_400_000

  private var random: SeededRandom
  private let clock = ManualClock()
  private var history = ObjectHistory()
  private var storage: FaultyStorage
  private var devices: [MeetingDevice] = []
  private var backups: [Int: [ReplicaState]] = [:]
  /// The tokens outside of all backups.
  private var tokens: [Int: RestoreToken] = [:]
  private let losesObjects: Bool
  private let splits: Bool
  private let copies: Bool
  private var deviceCount = 0
  private var idCount: UInt64 = 0
  /// The saves of each device that the storage had, if it loses nothing.
  private var kept: [DeviceID: UInt64] = [:]
  package private(set) var counts = ObjectTrialCounts()

  package init(seed: UInt64) throws(ScriptMismatch) {
    random = SeededRandom(seed: seed)
    storage = FaultyStorage(isDrive: random.chance(percent: 50))
    losesObjects = random.chance(percent: 50)
    splits = random.chance(percent: 30)
    copies = random.chance(percent: 25)
    for _ in 0..<4 { add() }
  }

  /// Lets things happen, and then checks that all devices and a new one agree.
  package mutating func run() throws(ScriptMismatch) -> ObjectTrialCounts {
    for step in 0..<(100 + random.number(below: 120)) {
      do throws(ScriptMismatch) {
        try act()
        if step % 6 == 0 { try checkAll() }
      } catch { throw error.at(step: step) }
      if !losesObjects { recordKept() }
    }
    counts.mostRounds = try settle(within: 12)
    for (device, count) in kept {
      for peer in devices where !peer.replica.version[device].isForked {
        try agree(
          "\(peer.number) has the saves of \(device) that were uploaded",
          peer.replica.version[device].sequence >= count, true)
      }
    }
    let byDevice = Dictionary(
      grouping: storage.objects.keys.compactMap { ObjectName($0) }
        .filter { $0.interval != nil }, by: \.device)
    counts.mostObjects = byDevice.values.map(\.count).max() ?? 0
    add()
    _ = try settle(within: 12)
    try checkEnds()
    return counts
  }
}

// Devices.
extension ObjectTrial {
  private mutating func add() {
    let number = deviceCount
    deviceCount += 1
    let replica = Replica(
      device: newID(), schema: ObjectHistory.schema,
      wallClock: clock.wallClock, makeDeviceID: makeID(number))
    replica.fragmentSize = 3
    storage.add(number)
    devices.append(
      MeetingDevice(number, replica))
  }

  private mutating func newID() -> DeviceID {
    idCount += 1
    return DeviceID(idCount)
  }

  private func makeID(_ number: Int) -> () -> DeviceID {
    // A device takes another ID after each restored backup.
    let next = Locked(UInt64(number + 1) * 1_000)
    return {
      DeviceID(
        next.withLock {
          $0 += 1
          return $0
        })
    }
  }

  /// Opens a state, and forgets what the process knew.
  private mutating func open(
    _ state: ReplicaState, at i: Int, _ token: RestoreToken?
  ) {
    let replica = Replica(
      opening: state, token: token, schema: ObjectHistory.schema,
      wallClock: clock.wallClock,
      makeDeviceID: makeID(deviceCount + 10 * Int(idCount)))
    idCount += 1
    replica.fragmentSize = 3
    devices[i].replica = replica
    devices[i].restart()
    tokens[devices[i].number] = replica.restoreToken
  }
}

// Steps.
extension ObjectTrial {
  private mutating func act() throws(ScriptMismatch) {
    let i = random.number(below: devices.count)
    switch random.number(below: 100) {
    case ..<30: try save(on: i)
    case ..<51: try pass(of: i, [.publish])
    case ..<65: try pass(of: i, [.read])
    case ..<70: try pass(of: i, [.read, .collect])
    case ..<73: try pass(of: i, [.collect])
    case ..<83:
      var draws = SeededRandom(seed: random.next())
      storage.travel {
        draws.chance(percent: 85) ? draws.number(below: $0) : nil
      }
    case ..<86:
      clock.now += Self.day / 2 + Int64(random.number(below: 40_000_000))
    case ..<89: try faultOfStorage()
    case ..<92: meet(i, random.number(below: devices.count))
    case ..<94:
      backups[devices[i].number, default: []].append(devices[i].replica.state)
    case ..<96: restore(i)
    case ..<98: copy(i)
    default: lose(i)
    }
  }

  private mutating func save(on i: Int) throws(ScriptMismatch) {
    let count = random.pick([1, 1, 1, 2, 3, 8])
    var places: [(record: Int, field: Int)] = []
    for _ in 0..<count {
      places.append((random.number(below: 10), random.number(below: 2)))
    }
    try history.save(places, on: devices[i].replica)
    tokens[devices[i].number] = devices[i].replica.restoreToken
  }

  private mutating func faultOfStorage() throws(ScriptMismatch) {
    guard losesObjects,
      let name = storage.objects.keys.sorted().randomElement(using: &random)
    else { return }
    switch random.number(below: 3) {
    case 0:
      storage.lose(name)
      counts.lost += 1
    case 1:
      storage.damage(name) { Array($0.dropLast(3)) }
      counts.damaged += 1
    default:
      storage.damage(name) { bytes in
        var bytes = bytes
        bytes[bytes.count / 2] ^= 1
        return bytes
      }
      counts.damaged += 1
    }
  }

  private mutating func meet(_ i: Int, _ j: Int) {
    if i == j { return }
    let (one, other) = (devices[i].replica, devices[j].replica)
    let delta =
      splits
      ? other.delta(
        since: one.version, byteLimit: 1 + random.number(below: 200))
      : other.delta(since: one.version)
    if let delta { one.apply(delta) }
    tokens[devices[j].number] = other.restoreToken
  }

  private mutating func restore(_ i: Int) {
    let number = devices[i].number
    guard let count = backups[number]?.count, count > 0 else { return }
    let k = random.number(below: count)
    guard let state = backups[number]?[k] else { return }
    backups[number]?.removeSubrange((k + 1)...)
    open(state, at: i, tokens[number])
    counts.restored += 1
  }

  /// Replaces another device by a copy of one, with its ID.
  private mutating func copy(_ i: Int) {
    guard copies, counts.copied < 2, devices.count > 2 else { return }
    let j = (i + 1) % devices.count
    let original = devices[i].replica
    history.suspects.formUnion(original.ownDevices)
    open(original.state, at: j, RestoreToken(original.state))
    counts.copied += 1
  }

  private mutating func lose(_ i: Int) {
    guard devices.count > 2, counts.lostDevices < 1, !copies else { return }
    storage.remove(devices[i].number)
    devices.remove(at: i)
    counts.lostDevices += 1
  }
}

// Passes.
extension ObjectTrial {
  private enum Duty { case read, publish, collect }

  /// Performs duties of a pass.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  private mutating func pass(
    of i: Int, _ duties: [Duty], withoutFaults: Bool = false
  ) throws(ScriptMismatch) -> Bool {
    var draws = SeededRandom(seed: random.next())
    let isPartial = !withoutFaults && random.chance(percent: 30)
    let dies = !withoutFaults && random.chance(percent: 8)
    var isMoved = false
    do {
      var pass = try devices[i].pass(over: storage, at: clock.now) { _ in
        !isPartial || draws.chance(percent: 80)
      }
      for duty in duties {
        switch duty {
        case .read:
          let before = devices[i].replica.version
          let suspects = history.suspects
          let names = try devices[i].read(storage, &pass) { report in
            // A device knows all of its digests, and finds another history by them.
            let gaps = report.gaps.filter { !suspects.contains($0.device) }
            if !gaps.isEmpty { throw ScriptMismatch("a file leaves a gap") }
          }
          counts.read += names.count
          isMoved = isMoved || devices[i].replica.version != before
        case .publish:
          if dies {
            try die(i, &pass)
            return true
          }
          let names = try devices[i].publish(&storage, &pass) {
            Int64(draws.next() >> 1) % max($0, 1)
          }
          counts.stored += names.count
          let own = devices[i].replica.ownDevices
          counts.relayed += names.count { !own.contains($0.device) }
          tokens[devices[i].number] = devices[i].replica.restoreToken
          isMoved = isMoved || names.contains { $0.interval != nil }
        case .collect:
          let names = try devices[i].collect(&storage, &pass)
          counts.deleted += names.count
          isMoved = isMoved || names.contains { $0.interval != nil }
        }
      }
    } catch let error as ScriptMismatch { throw error } catch {
      throw ScriptMismatch("a pass fails: \(error)")
    }
    if !withoutFaults, random.chance(percent: 10) { devices[i].restart() }
    return isMoved
  }

  /// Kills a process while it stores its first object.
  private mutating func die(_ i: Int, _ pass: inout ObjectPass) throws {
    let file = pass.publication(of: devices[i].replica) { $0 / 2 }
    tokens[devices[i].number] = devices[i].replica.restoreToken
    if let file, losesObjects, random.chance(percent: 50) {
      storage.put(
        "\(file.name)", Array(file.bytes.prefix(file.bytes.count / 2)),
        by: devices[i].number)
      counts.damaged += 1
    }
    counts.died += 1
    devices[i].restart()
  }

  /// Lets each device perform passes until nothing moves.
  private mutating func settle(within limit: Int) throws(ScriptMismatch) -> Int
  {
    var (rounds, idle) = (0, 0)
    while idle < 3 {
      rounds += 1
      if rounds - idle > limit { throw ScriptMismatch("the passes do not end") }
      // A day and more passes, so every wait ends.
      clock.now += Self.day + 3_600_000
      var isMoved = false
      for i in devices.indices {
        storage.settle()
        if try pass(of: i, [.read, .publish, .collect], withoutFaults: true) {
          isMoved = true
        }
      }
      storage.settle()
      idle = isMoved ? 0 : idle + 1
    }
    try checkAll()
    return rounds - idle
  }
}

// Checks.
extension ObjectTrial {
  private func checkAll() throws(ScriptMismatch) {
    for device in devices {
      try history.check(device.replica, "device \(device.number)")
    }
  }

  /// Records what must survive, because no object is damaged or lost.
  private mutating func recordKept() {
    let names = storage.objects.keys.compactMap { ObjectName($0) }
    for (device, names) in Dictionary(grouping: names, by: \.device) {
      let intervals = names.compactMap(\.interval)
      if intervals.contains(where: \.to.isForked) { continue }
      var reach: UInt64 = 0
      for interval in intervals.sorted(by: { $0.from < $1.from })
      where interval.from <= reach && interval.to.sequence > reach {
        reach = interval.to.sequence
      }
      kept[device] = max(kept[device] ?? 0, reach)
    }
  }

  /// Checks that all devices have the same saves, and the same fields.
  private mutating func checkEnds() throws(ScriptMismatch) {
    guard let first = devices.first?.replica else { return }
    counts.forks += first.version.forkedDevices.count
    for device in devices.dropFirst() {
      let replica = device.replica
      let name = "device \(device.number)"
      try agree(
        "the saves of \(name)", replica.version.vectorClock,
        first.version.vectorClock)
      for entry in first.version.vectorClock.entries {
        let (one, other) = (
          first.version[entry.device], replica.version[entry.device]
        )
        try agree(
          "the digest of \(entry.device) at \(name)", other.digest, one.digest)
        try agree(
          "\(entry.device) is forked at \(name)", other.isForked, one.isForked)
      }
      if replica.foldedBytes == first.foldedBytes { continue }
      if !history.suspects.isEmpty { continue }
      // The fields of a lost device travel with others, but not alone.
      let isAhead = [first, replica].contains {
        !$0.version.fieldsAhead.isEmpty || !$0.version.prefixes.isEmpty
      }
      try agree(
        "the fields of \(name) are those of the first device", isAhead, true)
      counts.withFieldsAhead += 1
    }
  }
}
