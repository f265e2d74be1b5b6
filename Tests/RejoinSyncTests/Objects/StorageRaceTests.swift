// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

@Suite(.serialized) final class StorageRaceTests: FailingStorageSuite {
  @Test(arguments: 0..<(Tier.isNightly ? 100 : 8))
  func confirmedSavesStayInTheStorage(_ run: Int) async throws {
    let bin = FailingStorage(confirms: run % 2 == 0)
    var stores: [ReplicaStore] = []
    for _ in 0..<4 { stores.append(try await store()) }
    let rate = [0, 5, 20, 40][run % 4]
    bin.with {
      $0.fail = { call, _ in
        if call == "after" { return }
        if Int.random(in: 0..<100) < rate { throw Offline() }
      }
      $0.mayFailAfter = rate / 2
      $0.yields = true
    }
    let time = time
    let memories = stores.map { _ in Box(ObjectMemory()) }
    // What devices were told to be safe.
    let promised = Box(ReplicaVersion())
    for round in 0..<12 {
      for (i, store) in stores.enumerated() where Bool.random() {
        for _ in 0..<Int.random(in: 1...4) {
          try await save(
            store, "\(run) \(round) \(i) \(Int.random(in: 0..<99))")
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for (i, store) in stores.enumerated() where Int.random(in: 0..<4) > 0 {
          let box = memories[i]
          if Int.random(in: 0..<6) == 0 {
            box.value = ObjectMemory(note: box.value.note)
          }
          let cancels = Int.random(in: 0..<5) == 0
          group.addTask {
            let task = Task {
              var memory = box.value
              let result = try? await store.sync(
                scope: "s", objects: bin, remembering: &memory, uploads: true,
                time.sync, reporting: { _ in })
              box.value = memory
              if let result, result.isUploaded {
                promised.join(result.peerVersion)
              }
            }
            if cancels {
              try? await Task.sleep(
                for: .microseconds(Int.random(in: 0..<9_000)))
              task.cancel()
            }
            await task.value
          }
        }
      }
      time.advance(Int64.random(in: 0..<40_000_000))
      // Whoever comes new must get what was promised.
      let lacks = missing(promised.value, bin)
      #expect(lacks.isEmpty, "round \(round): \(lacks) \(bin.names)")
      if !lacks.isEmpty { return }
    }
    bin.with {
      $0.fail = { _, _ in }
      ($0.mayFailAfter, $0.yields) = (0, false)
    }
    for _ in 0..<6 {
      for (i, store) in stores.enumerated() {
        _ = try await store.sync(
          scope: "s", objects: bin, remembering: &memories[i].value,
          uploads: true, time.sync, reporting: { _ in })
      }
      time.advance(90_000_000)
    }
    for (i, store) in stores.enumerated() {
      let count = bin.with { state in
        state.calls = []
        return state.objects.keys.filter { $0.hasSuffix(".rejoin") }.count
      }
      let result = try await store.sync(
        scope: "s", objects: bin, remembering: &memories[i].value,
        uploads: true, time.sync, reporting: { _ in })
      #expect(result.isSynced && result.isUploaded)
      #expect(count <= 4 * 12)
      let gets = bin.with { $0.calls }.filter { $0 != "list" }
      #expect(gets.count <= 3, "\(gets)")
    }
    let new = try await store()
    var memory = ObjectMemory()
    _ = try await new.sync(
      scope: "s", objects: bin, remembering: &memory, uploads: true, time.sync,
      reporting: { _ in })
    let titles = await new.read { $0.records(of: StoredNote.self).map(\.title) }
    for store in stores {
      #expect(
        await store.read { $0.records(of: StoredNote.self).map(\.title) }
          == titles)
    }
  }

  @Test(arguments: ["list", "get", "put", "delete"], [false, true])
  func storeEndsDuringAPass(_ call: String, _ deletes: Bool) async throws {
    let (phone, tablet, bin) = (
      try await store(), try await store(), FailingStorage()
    )
    let other = engine(tablet, bin)
    for i in 0..<3 {
      try await save(tablet, "\(i)")
      bin.with {
        $0.fail = { call, _ in if call == "delete" { throw Offline() } }
      }
      await other.sync()
    }
    bin.with { $0.fail = { _, _ in } }
    try await save(phone, "a")
    bin.with {
      $0.hook = { made in
        guard made == call else { return }
        if deletes {
          try? await phone.deleteScope()
        } else {
          try? await phone.close()
        }
      }
    }
    let engine = engine(phone, bin)
    await engine.start()
    let status = await engine.sync()[0]
    #expect(bin.with { $0.calls }.contains(call))
    try await Task.sleep(for: .milliseconds(50))
    let now = await engine.publish()[0]
    #expect(
      now.state == .stopped,
      "\(status.state) \(now.state) \(String(describing: now.error))")
    #expect(await engine.plannedTime == nil)
    await engine.stop()
  }

  /// A device that is copied with its token.
  @Test func forkEndsAndIdles() async throws {
    let bin = FailingStorage()
    let one = try await store(nil, "one")
    try await save(one, "base")
    await engine(one, bin).sync()
    try await one.close()
    for file in try FileManager.default.contentsOfDirectory(atPath: folder)
    where file.hasPrefix("one") {
      try FileManager.default.copyItem(
        atPath: folder + "/" + file,
        toPath: folder + "/copy" + file.dropFirst(3))
    }
    let stores = [
      try await store(nil, "one"), try await store(nil, "copy"),
      try await store(),
    ]
    let engines = stores.map { engine($0, bin) }
    for round in 0..<3 {
      for (i, store) in stores.enumerated() {
        try await save(store, "\(round) \(i)")
        if i == round { try await save(store, "\(round) \(i) b") }
      }
      for engine in engines { await engine.sync() }
    }
    for _ in 0..<6 {
      for engine in engines { await engine.sync() }
      time.advance(1_300_000)
    }
    for (i, engine) in engines.enumerated() {
      bin.with { $0.calls = [] }
      let status = await engine.sync()[0]
      #expect(bin.with { $0.calls } == ["list"], "device \(i)")
      #expect(status.isSynced && status.isUploaded)
    }
    let new = try await store()
    await engine(new, bin).sync()
    let counts = [
      await stores[0].read { $0.records(of: StoredNote.self).count },
      await stores[1].read { $0.records(of: StoredNote.self).count },
      await stores[2].read { $0.records(of: StoredNote.self).count },
      await new.read { $0.records(of: StoredNote.self).count },
    ]
    #expect(counts == [13, 13, 13, 13])
  }

  /// A forged object of the last number of the own device.
  @Test func lastSaveNumberEnds() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    try await save(phone, "a")
    let id = await phone.device
    let end = DeviceSave(sequence: .max, time: .zero, digest: 7)
    let interval = SaveInterval(from: 0, to: end)
    var message = SyncMessage(.object, scope: "s")
    (message.device, message.part) = (
      DeviceID(9), Delta(changes: [], intervals: [id: interval])
    )
    let name = ObjectName(id, .saves(interval), nonce: 1)
    bin.with { $0.objects["\(name)"] = message.encoded() }
    let engine = engine(phone, bin)
    for i in 0..<3 {
      await engine.sync()
      try await save(phone, "b\(i)")
    }
    let status = await engine.sync()[0]
    #expect(status.isUploaded && status.error == nil, "\(status)")
    let new = try await store()
    await self.engine(new, bin).sync()
    #expect(await new.read { $0.records(of: StoredNote.self).count } >= 3)
  }

  @Test func importsAndDeletionsTravel() async throws {
    let bin = FailingStorage()
    let stores = [try await store(), try await store(), try await store()]
    let engines = stores.map { engine($0, bin) }
    for store in stores.prefix(2) {
      try await store.withReplica { replica in
        _ = try replica.importRows {
          $0[StoredNote.self, "seed"].title = "seed"
        }
        _ = try replica.importRows(from: "crm", modifiedAt: 5) {
          $0[StoredNote.self, "row"].title = "row"
        }
      }
    }
    for (i, store) in stores.enumerated() { try await save(store, "\(i)") }
    for _ in 0..<5 {
      for engine in engines {
        let status = await engine.sync()[0]
        #expect(status.error == nil)
      }
    }
    try await stores[0].save { $0[StoredNote.self, "1"].delete() }
    for _ in 0..<6 {
      for engine in engines { await engine.sync() }
      time.advance(90_000_000)
    }
    for (i, engine) in engines.enumerated() {
      await engine.sync()
      bin.with { $0.calls = [] }
      let status = await engine.sync()[0]
      #expect(bin.with { $0.calls } == ["list"], "device \(i)")
      #expect(status.isSynced && status.isUploaded)
      #expect(
        await stores[i].read { $0.records(of: StoredNote.self).count } == 4)
    }
  }

  /// Empty names of the own device must not make each save export everything.
  @Test func chainOfEmptyNamesIsCheap() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    for i in 0..<300 { try await save(phone, "\(i)") }
    let id = await phone.device
    bin.with { state in
      for i in 0..<300 {
        let end = DeviceSave(sequence: UInt64(i + 1), time: .zero, digest: 0)
        let name = ObjectName(
          id, .saves(SaveInterval(from: UInt64(i), to: end)), nonce: 1)
        state.extra.append(("\(name)", 0))
      }
    }
    try await save(phone, "new")
    let start = ContinuousClock.now
    await engine(phone, bin).sync()
    let time = ContinuousClock.now - start
    #expect(time < .seconds(1), "300 names took \(time)")
  }

  @Test func largeSavesAndAbsorbing() async throws {
    let (phone, tablet, bin) = (
      try await store(), try await store(), FailingStorage()
    )
    let engine = engine(phone, bin)
    for round in 0..<4 {
      try await phone.save { transaction in
        for i in 0..<5_000 {
          transaction[StoredNote.self, "\(i)"].title =
            "\(round) \(i) \(String(repeating: "x", count: 60))"
        }
      }
      let status = await engine.sync()[0]
      #expect(status.isUploaded && status.error == nil)
    }
    #expect(await self.engine(tablet, bin).sync()[0].isSynced)
    let all = await tablet.read { $0.records(of: StoredNote.self).map(\.title) }
    #expect(
      await phone.read { $0.records(of: StoredNote.self).map(\.title) } == all)
  }

  /// A newer object of another device must not keep the own saves.
  @Test func anotherRouteNameWithUnreadableObjects() async throws {
    let (phone, bin) = (try await store(), FailingStorage())
    let end = DeviceSave(sequence: 1, time: .zero, digest: 7)
    let name = ObjectName(
      DeviceID(5), .saves(SaveInterval(from: 0, to: end)), nonce: 1)
    bin.with {
      $0.extra = [("\(name)", 100)]
      $0.fail = { call, _ in if call == "get" { throw Offline() } }
    }
    try await save(phone, "a")
    let engine = engine(phone, bin)
    let status = await engine.sync()[0]
    #expect(status.isUploaded && !status.isSynced && status.error != nil)
  }

  /// Started engines alone, with faults and direct exchanges, and then without faults.
  @Test(arguments: 0..<(Tier.isNightly ? 40 : 4))
  func startedEnginesNeitherSpinNorStick(_ run: Int) async throws {
    let bin = FailingStorage(confirms: run % 2 == 0)
    var stores: [ReplicaStore] = []
    for _ in 0..<3 { stores.append(try await store()) }
    let engines = stores.map { engine($0, bin) }
    for engine in engines { await engine.start() }
    func settle() async throws {
      for engine in engines {
        var quiet = 0
        for _ in 0..<2_000 where quiet < 4 {
          let due =
            await engine.plannedTime.map { $0 <= time.get().up } ?? false
          let isPassing = await engine.isPassing
          quiet = due || isPassing ? 0 : quiet + 1
          try await Task.sleep(for: .milliseconds(1))
        }
        #expect(quiet >= 4, "an engine does not get quiet")
      }
    }
    func step() async throws {
      let before = bin.lists
      try await settle()
      let passes = bin.lists - before
      #expect(passes <= 12, "\(passes) passes at one time")
      var planned: Int64?
      for engine in engines {
        if let due = await engine.plannedTime {
          planned = min(planned ?? due, due)
        }
      }
      if let planned { time.advance(max(planned - time.get().up, 0)) }
    }
    for round in 0..<25 {
      let mode = Int.random(in: 0..<9)
      bin.with {
        $0.fail = { call, _ in
          switch (mode, call) {
          case (0, _): throw Offline()
          case (1, "put"): throw SyncRefusal.denied
          case (2, "put"): throw SyncRefusal.tooLarge
          case (3, "list"): throw SyncRefusal.busy(seconds: 40)
          case (4, "get"): throw Offline()
          case (5, "put"): throw Offline()
          case (6, "delete"): throw Offline()
          default: break
          }
        }
      }
      if Int.random(in: 0..<4) == 0 {
        time.set(by: Int64.random(in: -90_000_000...90_000_000))
      }
      let i = Int.random(in: 0..<3)
      if Bool.random() { try await save(stores[i], "\(round)") }
      if Bool.random() {
        let other = (i + 1) % 3
        if let delta = try await stores[i].delta(
          since: await stores[other].version)
        {
          try await stores[other].apply(delta)
        }
      }
      try await Task.sleep(for: .milliseconds(3))
      for _ in 0..<Int.random(in: 1...3) { try await step() }
    }
    bin.with { $0.fail = { _, _ in } }
    let end = time.get().up + 7_200_000
    for engine in engines { await engine.resume("bin") }
    for _ in 0..<60 where time.get().up < end { try await step() }
    for engine in engines {
      let status = await engine.publish()[0]
      #expect(status.isUploaded && status.error == nil, "\(status)")
    }
    for engine in engines { await engine.stop() }
  }
}
