// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting

/// A peer of a trial.
struct TrialPeer: Sendable {
  let answer: @Sendable ([UInt8], _ isReadOnly: Bool) async throws -> [UInt8]
  /// The elements that the peer has or had.
  let elements: Locked<Set<String>>

  /// Returns the first element that the peer never had, except for removed ones.
  ///
  /// An element can arrive together with its removal.
  func lacks(_ others: Set<String>, except removed: Set<String>) -> String? {
    let missing = elements.withLock { others.subtracting($0) }
    return missing.subtracting(removed).min()
  }
}

/// The hub of a trial, which can lose everything.
final class TrialHub: Sendable {
  private struct Server: Sendable {
    let hub: Hub
    /// A store that shows what the hub has.
    let mirror: ReplicaStore

    init() async throws {
      hub = try await Hub(connections: 1) {
        try SQLiteConnection(opening: ":memory:")
      }
      mirror = try await ReplicaStore.inMemory(schema: [TrialNote.self])
    }
  }

  private let current: Locked<Server>
  let peer: TrialPeer

  init() async throws {
    let current = Locked(try await Server())
    let elements = Locked<Set<String>>([])
    self.current = current
    peer = TrialPeer(
      answer: { request, isReadOnly in
        let server = current.withLock { $0 }
        let answer = await server.hub.makeSession { request in
          if isReadOnly, case .write = request { throw SyncRefusal.denied }
        }.answer(request)
        let session = server.hub.makeSession { _ in }
        // Another answer can apply the same part first, and then it advances nothing.
        while try await !server.mirror.version.covers(
          session.version(of: "s")),
          let part = try await session.delta(
            since: server.mirror.version, byteLimit: 1 << 20, in: "s")
        {
          try await server.mirror.apply(part)
        }
        let found = await server.mirror.elements
        elements.withLock { $0.formUnion(found) }
        return answer
      }, elements: elements)
  }

  func lose() async throws {
    let server = try await Server()
    current.withLock { $0 = server }
  }
}

/// The bucket of a trial, whose calls fail now and then.
final class TrialBucket: Sendable {
  let storage = SharedStorage(isDrive: false)
  let peer: TrialPeer
  private let isFaulty = Locked(true)

  init(seed: UInt64, time: ManualTime, counts: Locked<EngineTrialCounts>) {
    let elements = Locked<Set<String>>([])
    peer = TrialPeer(answer: { request, _ in request }, elements: elements)
    // A replica that takes all objects shows what the bucket has.
    let mirror = Locked(
      Replica(
        device: DeviceID(0), schema: [TrialNote.self],
        wallClock: WallClock { 0 }, makeDeviceID: { DeviceID(1) }))
    storage.stored.withLock { stored in
      stored = { bytes in
        counts.withLock { $0.objects += 1 }
        guard let part = try? SyncMessage(decoding: bytes).part else { return }
        let found = mirror.withLock { replica in
          replica.apply(part)
          return replica.records(of: TrialNote.self)
            .flatMap { Array($0.elements) }
        }
        elements.withLock { $0.formUnion(found) }
      }
    }
    let random = Locked(SeededRandom(seed: seed))
    storage.fault.withLock { fault in
      fault = { [isFaulty] call in
        guard isFaulty.withLock({ $0 }) else { return }
        let draw = random.withLock { $0.number(below: 24) }
        if draw < 6 { counts.withLock { $0.faults += 1 } }
        switch draw {
        case 0, 1: throw TrialLine.Offline()
        case 2: throw SyncRefusal.busy(seconds: 5)
        case 3: throw call == .put ? SyncRefusal.denied : SyncRefusal.gone
        case 4: throw CancellationError()
        case 5: try await time.wait(until: time.uptime + 700)
        default: break
        }
      }
    }
  }

  func repair() { isFaulty.withLock { $0 = false } }
}

/// A device of a trial: a store, its engine, and its routes to peers.
final class TrialDevice {
  let name: String
  let store: ReplicaStore
  private(set) var lines: [String: TrialLine] = [:]
  private(set) var engine: SyncEngine
  let peer: TrialPeer
  private let time: ManualTime
  private let counts: Locked<EngineTrialCounts>
  private let removed: Locked<Set<String>>
  private let running = Locked(0)
  private let appCalls = TrialCalls()
  private(set) var peers: [String: TrialPeer] = [:]
  private var bucket: (any ObjectStorage)?
  private var calls: [Task<[SyncStatus], Never>] = []
  private let watch = Locked(EventWatch())

  init(
    _ name: String, _ store: ReplicaStore, _ time: ManualTime,
    _ counts: Locked<EngineTrialCounts>, removed: Locked<Set<String>>
  ) {
    (self.name, self.store, self.time) = (name, store, time)
    (self.counts, self.removed) = (counts, removed)
    // The first launch replaces it.
    engine = SyncEngine(store, routes: [], time: time.time)
    store.engine.release(from: engine)
    let elements = Locked<Set<String>>([])
    peer = TrialPeer(
      answer: { request, _ in
        let answer = try await throughPipe(request) {
          await store.answer($0, scope: "s")
        }
        let found = await store.elements
        elements.withLock { $0.formUnion(found) }
        return answer
      }, elements: elements)
  }

  var elements: Set<String> { get async { await store.elements } }
  /// The elements that the device inserted itself.
  ///
  /// An element of another device can arrive before its save is complete here. No
  /// version shows it then.
  var ownElements: Set<String> {
    get async { await store.elements.filter { $0.hasPrefix("\(name)-") } }
  }
  var faults: [String] {
    lines.values.flatMap(\.faults) + watch.withLock(\.faults)
  }

  func addLine(_ name: String, seed: UInt64, to peer: TrialPeer) {
    peers[name] = peer
    lines[name] = TrialLine(
      seed: seed, running: running, calls: appCalls, time: time, counts: counts,
      answer: peer.answer)
  }

  func addBucket(_ bucket: TrialBucket, number: Int) {
    peers["bucket"] = bucket.peer
    self.bucket = bucket.storage.view(of: number)
  }

  func resume(_ route: String) async {
    lines[route]?.resume()
    await engine.resume(route)
  }

  /// Creates an engine after the last one was stopped.
  func launch() {
    for line in lines.values { line.launch() }
    var routes = lines.sorted { $0.key < $1.key }.map { name, line in
      SyncRoute(name, scope: "s") { try await line.ask($0) }
    }
    if let bucket {
      routes.append(SyncRoute("bucket", scope: "s", objects: bucket))
    }
    engine = SyncEngine(store, routes: routes, time: time.time)
    Task { [watch, counts, events = engine.events] in
      for await event in events {
        counts.withLock { $0.events += 1 }
        watch.withLock { $0.add(event) }
      }
    }
  }

  /// Lets the app ask for a pass without waiting for it.
  func sync() {
    counts.withLock { $0.passes += 1 }
    let number = appCalls.begin()
    let call = Task {
      [name, engine, store, peers, watch, counts, removed, appCalls] in
      let before = await store.elements.filter { $0.hasPrefix("\(name)-") }
      let statuses = await engine.sync()
      appCalls.end(number)
      let uploaded = statuses.filter(\.isUploaded)
      counts.withLock { $0.uploaded += uploaded.count }
      for status in uploaded {
        let lacking = peers[status.route]?.lacks(
          before, except: removed.withLock { $0 })
        guard let lacking else { continue }
        watch.withLock {
          $0.faults.append("\(status.route) does not have \(lacking)")
        }
      }
      return statuses
    }
    calls.append(call)
  }

  func cancelCalls() {
    appCalls.cancel()
    for call in calls where !call.isCancelled {
      call.cancel()
      counts.withLock { $0.canceled += 1 }
    }
    for line in lines.values { line.cancel() }
  }

  func stop() async {
    await engine.stop()
    for line in lines.values { line.cancel() }
  }

  /// Ends the engine and the calls of the app, and checks its events.
  func end() async {
    await stop()
    for call in calls { _ = await call.value }
    calls = []
    // The events are on their way to the watch.
    for _ in 0..<10_000 where watch.withLock({ !$0.open.isEmpty }) {
      try? await Task.sleep(for: .milliseconds(1))
    }
    watch.withLock { watch in
      watch.faults += watch.open.values.map { "\($0) does not end" }
      watch.open = [:]
    }
  }

  /// Returns the first element that a peer never had, except for removed ones.
  func missing(of elements: Set<String>, at route: String) -> String? {
    peers[route]?.lacks(elements, except: removed.withLock { $0 })
  }

  /// Checks that a peer has what a status shows as uploaded.
  func check(_ statuses: [SyncStatus], before: Set<String>) throws {
    for status in statuses where status.isUploaded {
      counts.withLock { $0.uploaded += 1 }
      if let element = missing(of: before, at: status.route) {
        throw TrialFault("\(status.route) does not have \(element)")
      }
    }
  }
}

/// The events of an engine that started and did not end.
private struct EventWatch {
  var open: [UInt64: SyncEvent] = [:]
  var faults: [String] = []

  mutating func add(_ event: SyncEvent) {
    if event.end != nil {
      if open.removeValue(forKey: event.id) == nil {
        faults.append("\(event) ends twice")
      }
    } else {
      let isDouble = open.values.contains {
        $0.route != event.route || $0.kind == event.kind
      }
      if isDouble { faults.append("\(event) overlaps") }
      open[event.id] = event
    }
  }
}

/// Carries a request and its answer in the pipe form, in small pieces.
private func throughPipe(
  _ request: [UInt8], _ answer: ([UInt8]) async -> [UInt8]
) async throws -> [UInt8] {
  func carry(_ message: [UInt8]) throws -> [UInt8] {
    var (stream, received) = (MessageStream(), [[UInt8]]())
    for byte in MessageStream.framed(message) {
      stream.append([byte])
      while let next = try stream.next() { received.append(next) }
    }
    try stream.finish()
    return received.count == 1 ? received[0] : []
  }
  return try carry(await answer(try carry(request)))
}

extension ReplicaStore {
  /// The elements of all notes.
  var elements: Set<String> {
    read { view in
      Set(view.records(of: TrialNote.self).flatMap { Array($0.elements) })
    }
  }
}
