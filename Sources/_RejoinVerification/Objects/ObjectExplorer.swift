// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync
import RejoinTesting

/// A breadth-first search of all orders in which devices save, read, store and delete
/// objects while operations arrive, objects are damaged, and days pass.
///
/// Each save inserts an element of its own into two records, so the elements tell which
/// saves a replica really has. After each action, these laws hold:
///
/// - A replica has the elements of all saves in its version.
/// - Reading leaves no gap.
/// - From every configuration, passes without faults end after a few rounds. Then all
///   devices and a new one have all saves.
/// - The same holds without any one device, except for saves that no other device and
///   no object had.
package struct ObjectExplorer {
  private static let day: Int64 = 86_400_000

  /// A device of a configuration.
  private struct Device: Hashable {
    var replica: Int
    var memory: Int
    var saves = 0
  }

  private struct Configuration: Hashable {
    var devices: [Device]
    var storage: Int
    var faults: Int
    var days = 0
  }

  private enum Duty: CaseIterable { case read, publish, collect }

  private enum Action: Hashable {
    case save(Int), pass(Int, Duty)
    case arrive(Int), damage(String), lose(String), meet(Int, Int), day
  }

  private let program: ObjectProgram
  private var history = ObjectElements()
  private var replicas: [Replica] = []
  private var memories: [ObjectMemory] = []
  private var storages: [FaultyStorage] = []
  private var replicaNumbers: [[UInt8]: Int] = [:]
  private var memoryNumbers: [String: Int] = [:]
  private var storageNumbers: [FaultyStorage: Int] = [:]
  private var configurations: [Configuration] = []
  private var indices: [Configuration: Int] = [:]
  private var origins: [(parent: Int, action: Action?)] = []
  private var settled: Set<Configuration> = []
  package private(set) var counts = ObjectExplorerCounts()

  package init(_ program: ObjectProgram) { self.program = program }

  /// Visits configurations, starting with the fewest actions.
  package mutating func search(
    atMost limit: Int
  ) throws(ScriptMismatch) -> ObjectExplorerCounts {
    insert(try start(), from: 0, by: nil)
    var index = 0
    while index < configurations.count {
      var attempt: Action?
      do throws(ScriptMismatch) {
        let configuration = configurations[index]
        try checkEnds(of: configuration)
        for action in actions(in: configuration) {
          attempt = action
          let next = try perform(action, in: configuration)
          counts.transitions += 1
          if configurations.count < limit {
            insert(next, from: index, by: action)
          }
        }
      } catch {
        throw ScriptMismatch(
          "\(program.name): \(error.what)\n\(path(to: index, attempt))")
      }
      index += 1
    }
    counts.configurations = configurations.count
    return counts
  }

  private mutating func insert(
    _ configuration: Configuration, from parent: Int, by action: Action?
  ) {
    if indices[configuration] != nil { return }
    indices[configuration] = configurations.count
    configurations.append(configuration)
    origins.append((parent, action))
  }

  private func path(to index: Int, _ attempt: Action?) -> String {
    var (path, index) = ([attempt].compactMap { $0 }, index)
    while let action = origins[index].action {
      path.insert(action, at: 0)
      index = origins[index].parent
    }
    return path.map { "  \($0)" }.joined(separator: "\n")
  }
}

// Numbers.
extension ObjectExplorer {
  private mutating func number(of replica: Replica) -> Int {
    let bytes = replica.state.encoded()
    if let number = replicaNumbers[bytes] { return number }
    replicaNumbers[bytes] = replicas.count
    replicas.append(replica)
    return replicas.count - 1
  }

  private mutating func number(of memory: ObjectMemory) -> Int {
    let lasting = String(decoding: memory.note, as: UTF8.self)
    let verified = memory.verified.map { "\($0) \($1)" }.sorted()
    let versions = memory.readVersions.map { "\($0)" }.sorted()
    let key = ([lasting] + verified + ["versions"] + versions).joined(
      separator: "\n")
    if let number = memoryNumbers[key] { return number }
    memoryNumbers[key] = memories.count
    memories.append(memory)
    return memories.count - 1
  }

  private mutating func number(of storage: FaultyStorage) -> Int {
    if let number = storageNumbers[storage] { return number }
    storageNumbers[storage] = storages.count
    storages.append(storage)
    return storages.count - 1
  }

  /// Returns a copy of a device, whose changes do not change a configuration.
  private func device(_ i: Int, of configuration: Configuration)
    -> MeetingDevice
  {
    let device = configuration.devices[i]
    var copy = MeetingDevice(
      i, history.copy(of: replicas[device.replica], at: i))
    copy.memory = memories[device.memory]
    return copy
  }

  private mutating func start() throws(ScriptMismatch) -> Configuration {
    var storage = FaultyStorage(isDrive: program.isDrive)
    var devices: [Device] = []
    for i in program.saves.indices {
      storage.add(i)
      let replica = history.replica(program.isForked && i == 1 ? 0 : i)
      devices.append(
        Device(replica: number(of: replica), memory: number(of: ObjectMemory()))
      )
    }
    if program.isForked { history.suspects = [DeviceID(1)] }
    return Configuration(
      devices: devices, storage: number(of: storage), faults: program.faults)
  }
}

// Actions.
extension ObjectExplorer {
  private func actions(in configuration: Configuration) -> [Action] {
    var actions: [Action] = []
    let storage = storages[configuration.storage]
    for (i, device) in configuration.devices.enumerated() {
      if device.saves < program.saves[i] { actions.append(.save(i)) }
      actions += Duty.allCases.map { .pass(i, $0) }
      guard program.meets else { continue }
      actions += configuration.devices.indices.filter { $0 != i }.map {
        .meet(i, $0)
      }
    }
    actions += storage.operations.indices.map { .arrive($0) }
    if configuration.faults > 0 {
      for name in storage.objects.keys.sorted() where name.hasSuffix(".rejoin")
      {
        actions += [.damage(name), .lose(name)]
      }
    }
    if configuration.days < program.days { actions.append(.day) }
    return actions
  }

  private mutating func perform(
    _ action: Action, in old: Configuration
  ) throws(ScriptMismatch) -> Configuration {
    var next = old
    var storage = storages[old.storage]
    switch action {
    case .save(let i):
      let device = device(i, of: old)
      next.devices[i].saves += 1
      try history.save(at: i, on: device.replica)
      next.devices[i].replica = number(of: device.replica)
    case .pass(let i, let duty):
      var device = device(i, of: old)
      let before = device.replica.version
      let names = try pass(&device, [duty], &storage, on: old.days).names
      count(names[duty] ?? [], duty, of: device, since: before)
      next.devices[i].replica = number(of: device.replica)
      next.devices[i].memory = number(of: device.memory)
    case .arrive(let k): storage.deliver(storage.operations[k])
    case .damage(let name):
      storage.damage(name) { Array($0.dropLast()) }
      next.faults -= 1
      counts.damaged += 1
    case .lose(let name):
      storage.lose(name)
      next.faults -= 1
      counts.lost += 1
    case .meet(let i, let j):
      let (one, other) = (device(i, of: old), device(j, of: old))
      if let delta = other.replica.delta(since: one.replica.version) {
        one.replica.apply(delta)
        counts.met += 1
      }
      next.devices[i].replica = number(of: one.replica)
      // Sending makes the other one store its token.
      next.devices[j].replica = number(of: other.replica)
    case .day: next.days += 1
    }
    next.storage = number(of: storage)
    return next
  }

  /// Performs duties of a pass.
  ///
  /// - Returns: The objects of each duty, and whether anything but a version changed.
  private func pass(
    _ device: inout MeetingDevice, _ duties: [Duty],
    _ storage: inout FaultyStorage, on day: Int
  ) throws(ScriptMismatch) -> (names: [Duty: [ObjectName]], isMoved: Bool) {
    let before = device.replica.version
    var names: [Duty: [ObjectName]] = [:]
    do {
      var pass = try device.pass(over: storage, at: Int64(day + 1) * Self.day)
      var nonce = Int64(device.number * 1_000_000 + storage.putCount)
      for duty in duties {
        switch duty {
        case .read:
          names[duty] = try device.read(storage, &pass) { report in
            let gaps = report.gaps.filter {
              !history.suspects.contains($0.device)
            }
            if !gaps.isEmpty { throw ScriptMismatch("an object leaves a gap") }
          }
        case .publish:
          names[duty] = try device.publish(&storage, &pass) { bound in
            nonce += 1
            return bound == .max ? nonce : bound
          }
        case .collect: names[duty] = try device.collect(&storage, &pass)
        }
      }
    } catch let error as ScriptMismatch { throw error } catch {
      throw ScriptMismatch("a pass fails: \(error)")
    }
    try history.check(device.replica, "device \(device.number)")
    let changed = (names[.publish] ?? []) + (names[.collect] ?? [])
    return (
      names,
      device.replica.version != before
        || changed.contains { $0.interval != nil }
    )
  }

  private mutating func count(
    _ names: [ObjectName], _ duty: Duty, of device: MeetingDevice,
    since before: ReplicaVersion
  ) {
    let saves = names.filter { $0.interval != nil }
    let forked = device.replica.version.forkedDevices
    switch duty {
    case .read:
      counts.read += saves.count
      counts.overFork += saves.count { forked.contains($0.device) }
      counts.newForks += before.forkedDevices != forked ? 1 : 0
    case .publish:
      counts.stored += saves.count
      counts.absorbing += saves.count { name in
        name.interval.map { $0.from == 0 && $0.to.sequence > 1 } ?? false
      }
      counts.relayed += saves.count { $0.device != device.replica.device }
    case .collect: counts.deleted += saves.count
    }
  }
}

// Ends.
extension ObjectExplorer {
  /// Checks that passes without faults bring all saves to all devices, and to the rest
  /// after the loss of any one.
  private mutating func checkEnds(
    of configuration: Configuration
  ) throws(ScriptMismatch) {
    // What may still happen does not matter.
    var key = configuration
    key.faults = 0
    for i in key.devices.indices { key.devices[i].saves = 0 }
    if !settled.insert(key).inserted { return }
    try settle(configuration, without: nil)
    guard configuration.faults == program.faults else { return }
    for lost in configuration.devices.indices {
      try settle(configuration, without: lost)
    }
  }

  private mutating func settle(
    _ configuration: Configuration, without lost: Int?
  ) throws(ScriptMismatch) {
    var storage = storages[configuration.storage]
    var devices = configuration.devices.indices.filter { $0 != lost }
      .map { device($0, of: configuration) }
    if let lost { storage.remove(lost) }
    // Saves of the other devices and of the server survive.
    var expected = ObjectElements.elements(of: devices.map(\.replica))
    storage.settle()
    if lost != nil { expected.formUnion(history.elements(in: storage)) }
    var (day, idle, rounds) = (configuration.days, 0, 0)
    let new = program.saves.count
    while idle < 2
      || devices.count < configuration.devices.count + (lost == nil ? 1 : 0)
    {
      if idle >= 2 {
        storage.add(new)
        devices.append(
          MeetingDevice(new, history.replica(new)))
        counts.newDevices += 1
        // It can find an object that was damaged days ago.
        idle = 0
      }
      day += 2
      rounds += 1
      if rounds > 24 { throw ScriptMismatch("the passes do not end") }
      var isMoved = false
      for i in devices.indices {
        let pass = try pass(&devices[i], Duty.allCases, &storage, on: day)
        isMoved = isMoved || pass.isMoved
        storage.settle()
      }
      idle = isMoved ? 0 : idle + 1
    }
    counts.ends += 1
    counts.mostRounds = max(counts.mostRounds, rounds)
    guard let first = devices.first?.replica.version else { return }
    for device in devices {
      let replica = device.replica
      try agree(
        "the saves of device \(device.number) at the end",
        replica.version.vectorClock, first.vectorClock)
      if !history.suspects.isEmpty { continue }
      let missing = expected.subtracting(ObjectElements.elements(of: [replica]))
      try agree("what device \(device.number) lacks at the end", missing, [])
    }
  }
}
