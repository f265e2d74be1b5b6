// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting

/// Random hours of devices whose engines sync with a hub and with each other.
///
/// The lines lose, repeat and delay messages, the app calls the engines at any time,
/// and hubs lose everything. Each save inserts an element that exists once, or removes
/// one, so what each peer has follows from its elements alone. The seed decides what
/// happens, and the system in which order tasks run.
package final class EngineTrial {
  let seed: UInt64
  let time = ManualTime()
  let counts = Locked(EngineTrialCounts())
  private var random: SeededRandom
  private var devices: [TrialDevice] = []
  private let hub: TrialHub
  private let bucket: TrialBucket?
  private let removed = Locked<Set<String>>([])
  private var inserted: Set<String> = ["row"]

  package init(seed: UInt64) async throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    hub = try await TrialHub()
    for i in 0..<(1 + random.number(below: 3)) {
      let store = try await ReplicaStore.inMemory(schema: [TrialNote.self])
      // A row of the app's former database, which every device imports.
      try await store.withReplica { replica in
        _ = try replica.importRows {
          $0[TrialNote.self, "0"].elements.insert("row")
        }
      }
      devices.append(TrialDevice("\(i)", store, time, counts, removed: removed))
    }
    let hasBucket = random.number(below: 2) == 0
    bucket =
      hasBucket ? TrialBucket(seed: seed, time: time, counts: counts) : nil
    for (i, device) in devices.enumerated() {
      if let bucket { device.addBucket(bucket, number: i) }
      device.addLine("hub", seed: seed ^ UInt64(i), to: hub.peer)
      let isPair = devices.count > 1 && random.number(below: 2) == 0
      if isPair {
        let other = devices[(i + 1) % devices.count]
        device.addLine("pipe", seed: seed ^ UInt64(i + 9), to: other.peer)
      }
      device.launch()
      if random.number(below: 4) > 0 { await device.engine.start() }
    }
  }

  /// Lets things happen, and then checks that everything ends in all stores.
  ///
  /// - Throws: ``TrialFault``
  package func run(steps: Int = 40) async throws -> EngineTrialCounts {
    for step in 0..<steps {
      try await act(step)
      if random.number(below: 2) == 0 {
        for device in devices { await quiesce(device) }
      } else {
        for _ in 0..<random.number(below: 6) { await Task.yield() }
      }
      try check()
    }
    try await settle()
    for device in devices { await device.end() }
    try check()
    return counts.withLock { $0 }
  }

  private func act(_ number: Int) async throws {
    let device = devices[random.number(below: devices.count)]
    switch random.number(below: 20) {
    case 0..<6: try await save(number, on: device)
    case 6..<9: device.sync()
    case 9: device.cancelCalls()
    case 10:
      await device.resume("hub")
      counts.withLock { $0.resumes += 1 }
    case 11:
      await device.stop()
      counts.withLock { $0.stops += 1 }
      if random.number(below: 3) > 0 { await device.engine.start() }
    case 12: await device.engine.start()
    case 13:
      await device.end()
      device.launch()
      counts.withLock { $0.launches += 1 }
      try await checkLaunch(of: device)
      if random.number(below: 4) > 0 { await device.engine.start() }
    case 14:
      device.lines["hub"]?.setReadOnly(random.number(below: 2) == 0)
    case 15:
      time.jump(by: Int64(random.number(below: 200_000_000)) - 100_000_000)
    case 16 where random.number(below: 8) == 0:
      try await hub.lose()
      counts.withLock { $0.lostHubs += 1 }
    case 17 where random.number(below: 2) == 0:
      try await undo(on: device)
    case 17:
      try await device.store.withReplica { try $0.purgeDeletedRecords() }
    default:
      time.advance(by: Int64(1 << random.number(below: 18)))
      try await checkWait(of: device)
    }
  }

  private func save(_ number: Int, on device: TrialDevice) async throws {
    let elements = await device.elements.subtracting(removed.withLock { $0 })
      .sorted()
    for line in device.lines.values { line.save() }
    counts.withLock { $0.saves += 1 }
    let key = "\(random.number(below: 4))"
    if random.number(below: 4) == 0, let element = elements.first {
      _ = removed.withLock { $0.insert(element) }
      try await device.store.save { transaction in
        for i in 0..<4 {
          transaction[TrialNote.self, "\(i)"].elements.remove(element)
        }
      }
    } else {
      let element = "\(device.name)-\(number)"
      inserted.insert(element)
      try await device.store.save(undoable: element) {
        $0[TrialNote.self, key].elements.insert(element)
      }
    }
  }

  /// Undoes the last insertion of a device, unless it is removed.
  private func undo(on device: TrialDevice) async throws {
    let before = await device.elements
    let known = removed.withLock { $0 }
    // Each could be the undone one, and a peer can get it together with the undo.
    removed.withLock { $0.formUnion(before) }
    for line in device.lines.values { line.save() }
    if case .prevented = try await device.store.undo() {
      try await device.store.discardUndo()
    }
    let undone = before.subtracting(await device.elements)
    removed.withLock { $0 = known.union(undone) }
  }

  private func check() throws {
    for device in devices {
      if let fault = device.faults.first { throw TrialFault(fault) }
    }
  }

  /// Checks that a launch shows what the last one knew.
  private func checkLaunch(of device: TrialDevice) async throws {
    let before = await device.ownElements
    try device.check(await device.engine.publish(), before: before)
  }

  /// Checks that a device does not wait longer than the rules allow.
  private func checkWait(of device: TrialDevice) async throws {
    guard let end = await device.engine.plannedTime else { return }
    // The lines ask for less than the engine waits at most. Saves of other devices
    // wait longer for a bucket.
    if end - time.uptime > (bucket == nil ? 300_000 : 1_200_000) {
      throw TrialFault("device \(device.name) waits \(end - time.uptime) ms")
    }
  }

  /// After the errors stop, each device is synced within its wait, without a save.
  private func settle() async throws {
    for device in devices { for line in device.lines.values { line.repair() } }
    bucket?.repair()
    for device in devices {
      device.cancelCalls()
      await quiesce(device)
      await device.engine.start()
      for status in await device.engine.publish()
      where status.state == .needsDecision || status.uploadRefusal != nil {
        await device.resume(status.route)
      }
      let own = await device.ownElements
      try await waitForUpload(of: own, from: device)
    }
    try await sync { $0.error == nil }
    // A pass can bring saves from one place that a new hub, asked before, lacks.
    try await sync { $0.error == nil && $0.isUploaded }
    let expected = inserted.subtracting(removed.withLock { $0 })
    for device in devices {
      let elements = await device.elements
      if elements != expected {
        let difference = elements.symmetricDifference(expected).sorted()
        throw TrialFault("device \(device.name) differs in \(difference)")
      }
    }
  }

  /// Syncs all devices, and checks their statuses.
  private func sync(expecting isRight: (SyncStatus) -> Bool) async throws {
    for device in devices {
      let before = await device.ownElements
      let statuses = await device.engine.sync()
      try device.check(statuses, before: before)
      for status in statuses where !isRight(status) {
        throw TrialFault("device \(device.name) ends as \(status)")
      }
    }
  }

  /// Waits until the waits of a device ended, and checks that its peers then have
  /// elements.
  private func waitForUpload(
    of elements: Set<String>, from device: TrialDevice
  ) async throws {
    // The engine can learn of a save late.
    for _ in 0..<1_000 {
      await quiesce(device, for: 2_000)
      while let planned = await device.engine.plannedTime {
        time.advance(by: max(planned - time.uptime, 0))
        await quiesce(device)
      }
      let isMissing = device.peers.keys.contains {
        device.missing(of: elements, at: $0) != nil
      }
      if !isMissing { return }
      try await Task.sleep(for: .milliseconds(2))
    }
    throw TrialFault("a save of \(device.name) waits for another save")
  }

  /// Lets the passes of a device end.
  private func quiesce(_ device: TrialDevice, for milliseconds: Int64 = 0) async
  {
    let end = time.uptime + milliseconds
    for _ in 0..<20_000 {
      if time.uptime >= end, await !device.engine.isPassing { return }
      time.advance(by: 50)
      try? await Task.sleep(for: .microseconds(100))
    }
  }
}

/// A law that an engine broke.
package struct TrialFault: Error, CustomStringConvertible {
  package let description: String

  init(_ text: String) { description = text }
}

/// A note with elements.
package struct TrialNote: Entity {
  let elements = set("elements", of: String.self)
  let saves = counter("saves")

  package init() {}
}
