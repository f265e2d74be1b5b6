// SPDX-License-Identifier: Apache-2.0

import Foundation
import Harness
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync

extension Suite {
  /// Adds calls of `sync`: W23.
  mutating func addCalls() {
    addLoadByCall()
    for devices in [5, 50, 1_000] {
      addIdleCall(devices)
      addSaveByCall(devices)
    }
    for database in HubDatabase.available { addIdleAnswer(database) }
    addBusyHub()
    addCutCalls()
    addCalls("after a day apart, 300 records each") { one, other in
      for i in 0..<300 {
        try await one.write(i)
        try await other.write(5_000 + i)
      }
    }
    addCalls("of a new device, 10,000 records", isNew: true) { _, _ in }
    addCalls("with one save of 10,000 records") { one, _ in
      try await one.write(0)
    }
  }

  /// The bytes and the exchanges of a call between two stores of 10,000 records,
  /// whose peers in `Peers` sync the same edits.
  private mutating func addCalls(
    _ what: String, isNew: Bool = false,
    editing edit:
      @escaping @Sendable (ReplicaStore, ReplicaStore) async throws
      -> Void
  ) {
    @Sendable func call() throws -> Counter {
      try blocking {
        let load = try await Load(stores: 10_000)
        let (one, other) = (load.source, load.other)
        let line = Counter()
        let caller = isNew ? try await Load.store() : one
        let hint = isNew ? nil : await other.version
        try await edit(one, other)
        let result = try await caller.sync(scope: "s", assuming: hint) {
          let answer = await other.answer($0, scope: "s")
          await line.count($0, answer)
          return answer
        }
        if !result.isSynced { throw HarnessError("a call did not end") }
        return line
      }
    }
    addBytes("W23", "a call \(what)") { _ in
      let line = try call()
      return try blocking { await line.bytes }
    }
    addTimes("W23", "a call \(what), rounds") { _ in
      let line = try call()
      return Double(try blocking { await line.requests })
    }
  }

  /// A new device, beside a loop that asks for parts.
  private mutating func addLoadByCall() {
    addTimes(
      "W23", "a load by `sync`, in the time of a loop", size: 100_000,
      target: 1.2
    ) { scale in
      let load = try Load(records: scale(100_000))
      _ = try load.byLoop()
      // Pairs in both orders.
      let ratios = try (0..<5).map { number in
        if number % 2 == 0 {
          let call = try load.byCall().time
          return try call / load.byLoop().time
        }
        let loop = try load.byLoop().time
        return try load.byCall().time / loop
      }
      return ratios.sorted()[ratios.count / 2]
    }
    addTimes(
      "W23", "a load by `sync`, in the bytes of a loop", size: 100_000,
      target: 1.02
    ) { scale in
      let load = try Load(records: scale(100_000))
      return try Double(load.byCall().bytes) / Double(load.byLoop().bytes)
    }
  }

  /// The bytes of an idle call, without those of two versions.
  private mutating func addIdleCall(_ devices: Int) {
    addBytes(
      "W23", "an idle call, besides two versions", size: devices, target: 150
    ) { scale in
      let peers = try MetPeers(devices: min(devices, scale(devices)))
      let call = try peers.call()
      guard call.requests == 1 else {
        throw HarnessError("an idle call had \(call.requests) exchanges")
      }
      return call.bytes - 2 * call.version
    }
  }

  /// The bytes of a call that sends one save, without those of two versions and
  /// of the save's delta.
  private mutating func addSaveByCall(_ devices: Int) {
    addBytes(
      "W23", "a call with one save, besides two versions and the delta",
      size: devices, target: 150
    ) { scale in
      let peers = try MetPeers(devices: min(devices, scale(devices)))
      let hint = try peers.call().shown
      let delta = try peers.save()
      let call = try peers.call(assuming: hint)
      guard call.requests == 1 else {
        throw HarnessError("a call with a save had \(call.requests) exchanges")
      }
      return call.bytes - 2 * call.version - delta
    }
  }

  /// The answer of a hub to an idle device, in the time of a version.
  private mutating func addIdleAnswer(_ database: HubDatabase) {
    addTimes(
      "W23", "the answer of a hub on \(database.rawValue), of a version",
      size: 50, target: database == .postgresql ? 2 : nil
    ) { scale in
      let peers = try MetPeers(devices: scale(50), database)
      let request = try peers.request()
      let count = scale(1_000)
      func time(_ body: @escaping @Sendable () async throws -> Void) throws
        -> Double
      {
        try blocking {
          let start = ContinuousClock.now
          for _ in 0..<count { try await body() }
          return (ContinuousClock.now - start) / .nanoseconds(1)
        }
      }
      let (session, scope) = (peers.session, peers.scope)
      let ratios = try (0..<7).map { _ in
        let answer = try time { _ = await session.answer(request) }
        return try answer / time { _ = try await session.version(of: scope) }
      }
      return ratios.sorted()[ratios.count / 2]
    }
  }

  /// The exchanges of a call to a hub to which 50 devices save before each answer.
  private mutating func addBusyHub() {
    addTimes(
      "W23", "the exchanges of a call to a busy hub", size: 50, target: 2
    ) { scale in
      let peers = try MetPeers(devices: scale(50))
      var (requests, hint) = (0, try peers.call().shown)
      let count = 20
      for _ in 0..<count {
        _ = try peers.save()
        let call = try peers.call(assuming: hint, saving: true)
        (requests, hint) = (requests + call.requests, call.shown)
      }
      return Double(requests) / Double(count)
    }
  }

  /// The bytes of a load in parts of 16 kB from two senders in turn, which is cut
  /// 200 times at a byte that looks random, for each byte of one delta.
  private mutating func addCutCalls() {
    addTimes(
      "W23", "a load by `sync`, cut 200 times, in its bytes", size: 100_000,
      target: 1.5
    ) { scale in
      let load = try Load(records: scale(100_000))
      let whole = try load.byLoop().bytes
      return try Double(load.cut(scale(200), of: whole)) / Double(whole)
    }
  }
}

/// A load of a new store from another one.
private struct Load {
  let (source, other): (ReplicaStore, ReplicaStore)
  private let records: Int

  init(records: Int) throws {
    self = try blocking { try await Load(stores: records) }
  }

  /// Creates two stores with the same records.
  init(stores records: Int) async throws {
    self.records = records
    let data = Dataset(records: records)
    (source, other) = (try await Load.store(), try await Load.store())
    try await source.withReplica { try data.write(to: $0) }
    if let delta = try await source.delta(since: ReplicaVersion()) {
      try await other.apply(delta)
    }
  }

  static func store() async throws -> ReplicaStore {
    try await ReplicaStore.inMemory(schema: Dataset.schema)
  }

  private func check(_ store: ReplicaStore) async throws {
    let count = await store.read { $0.recordIDs(of: "Item").count }
    if count != records { throw HarnessError("\(count) records arrived") }
  }

  func byLoop() throws -> (time: Double, bytes: Int) {
    try blocking { [source, self] in
      let receiver = try await Load.store()
      let start = ContinuousClock.now
      var bytes = 0
      while let delta = try await source.delta(
        since: receiver.version, byteLimit: 256 << 10)
      {
        let message = delta.encoded()
        bytes += message.count
        try await receiver.apply(decoding: message)
      }
      let time = (ContinuousClock.now - start) / .seconds(1)
      try await check(receiver)
      return (time, bytes)
    }
  }

  func byCall() throws -> (time: Double, bytes: Int) {
    try blocking { [source, self] in
      let (receiver, line) = (try await Load.store(), Counter())
      let start = ContinuousClock.now
      let result = try await receiver.sync(scope: "s") { request in
        let answer = await source.answer(request, scope: "s")
        await line.count(request, answer)
        return answer
      }
      let time = (ContinuousClock.now - start) / .seconds(1)
      try await check(receiver)
      if !result.isSynced { throw HarnessError("the load did not end") }
      return (time, await line.bytes)
    }
  }

  /// Loads from two senders in turn, and cuts answers.
  ///
  /// - Returns: The number of bytes that were sent.
  func cut(_ count: Int, of whole: Int) throws -> Int {
    let cuts = Dataset.order(count, below: whole).sorted()
    let part = min(16 << 10, max(whole / 800, 1))
    return try blocking { [source, other, self] in
      let (receiver, line) = (try await Load.store(), Counter(cuts))
      var (hint, calls) = (nil as ReplicaVersion?, 0)
      while calls <= count {
        let peer = calls % 2 == 0 ? source : other
        calls += 1
        let result = try? await receiver.sync(
          scope: "s", bytesPerPart: part, assuming: hint
        ) { request in
          let answer = await peer.answer(request, scope: "s")
          try await line.carry(request, answer)
          return answer
        }
        hint = result?.peerVersion
        if result?.isSynced == true { break }
      }
      try await check(receiver)
      return await line.bytes
    }
  }
}

extension ReplicaStore {
  /// Changes one field of a record, in one save.
  fileprivate func write(_ record: Int) throws {
    let field = record % Dataset.fieldsPerRecord
    try save {
      $0.apply(
        .write(Dataset.value(record, field, version: 1)),
        to: Dataset.keys[field], of: RecordID("Item", Dataset.id(record)))
    }
  }
}

/// Counts the bytes of a line, and cuts it.
private actor Counter {
  private(set) var bytes = 0
  private(set) var requests = 0
  private(set) var lastAnswer: [UInt8] = []
  private var cuts: ArraySlice<Int>

  init(_ cuts: [Int] = []) { self.cuts = cuts[...] }

  /// Counts a request and its answer, unless the line is cut.
  func carry(_ request: [UInt8], _ answer: [UInt8]) throws {
    requests += 1
    lastAnswer = answer
    let end = bytes + request.count + answer.count
    if let cut = cuts.first, cut < end {
      cuts = cuts.dropFirst()
      bytes = max(cut, bytes)
      throw HarnessError("the line was cut")
    }
    bytes = end
  }

  func count(_ request: [UInt8], _ answer: [UInt8]) {
    (requests, lastAnswer) = (requests + 1, answer)
    bytes += request.count + answer.count
  }
}

/// A store and a hub that know a number of devices.
private final class MetPeers: Sendable {
  let session: HubSession
  let scope = "benchmark \(UUID())"
  private let store: ReplicaStore
  private let others: [ReplicaStore]
  private let folder: Folder

  struct Call {
    let bytes: Int
    let requests: Int
    /// The bytes of the version of the hub.
    let version: Int
    let shown: ReplicaVersion
  }

  init(devices: Int, _ database: HubDatabase = .sqlite) throws {
    let (folder, scope) = (try Folder(), scope)
    self.folder = folder
    (session, store, others) = try blocking {
      let session = try await Hub(connections: 1) {
        try database.connect(folder.file("hub.sqlite"))
      }.makeSession { _ in }
      var stores: [ReplicaStore] = []
      for _ in 0..<devices {
        let store = try await ReplicaStore.inMemory(schema: Dataset.schema)
        stores.append(store)
        try await MetPeers.write(store)
        _ = try await store.sync(scope: scope) { await session.answer($0) }
      }
      _ = try await stores[0].sync(scope: scope) { await session.answer($0) }
      return (session, stores[0], Array(stores.dropFirst()))
    }
  }

  private static func write(_ store: ReplicaStore) async throws {
    try await store.save { transaction in
      transaction.apply(
        .write(.string("\(UUID())")), to: Dataset.keys[0],
        of: RecordID("Item", "shared"))
    }
  }

  /// Saves, and returns the bytes of the delta of the save.
  func save() throws -> Int {
    try blocking { [store] in
      let before = await store.version
      try await MetPeers.write(store)
      return try await store.delta(since: before)?.encoded().count ?? 0
    }
  }

  /// The request of an idle call.
  func request() throws -> [UInt8] {
    try blocking { [store, session, scope] in
      let line = Box()
      _ = try await store.sync(scope: scope) { request in
        await line.set(request)
        return await session.answer(request)
      }
      return await line.bytes
    }
  }

  private actor Box {
    var bytes: [UInt8] = []
    func set(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  /// - Parameter saving: Whether each other device saves before each answer.
  func call(
    assuming hint: ReplicaVersion? = nil, saving: Bool = false
  ) throws -> Call {
    try blocking { [store, session, scope, others] in
      let line = Counter()
      let result = try await store.sync(scope: scope, assuming: hint) {
        request in
        if saving {
          for other in others {
            try await MetPeers.write(other)
            _ = try await other.sync(scope: scope) { await session.answer($0) }
          }
        }
        let answer = await session.answer(request)
        await line.count(request, answer)
        return answer
      }
      return Call(
        bytes: await line.bytes, requests: await line.requests,
        version: result.peerVersion.encoded().count, shown: result.peerVersion)
    }
  }
}
