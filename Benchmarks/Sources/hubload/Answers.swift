// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync

/// Measures how many requests of 64 clients a hub answers, each client in a
/// scope of its own, with `answer` and with the calls that it replaces.
///
/// Each client repeats requests that were recorded before, so the time is that
/// of the hub. The columns of a line are the database, the number of clients,
/// the requests per second with `answer` and with the calls, and their ratio. A
/// last line has the medians.
func measureAnswers(_ database: Database, requests count: Int) async throws {
  let hub = try await database.openHub()
  var lines: [[Double]] = []
  for pair in 0..<5 {
    // Pairs in both orders.
    var rates = [0.0, 0.0]
    for turn in [pair % 2, 1 - pair % 2] {
      let clients = try await recordedRequests(of: clientCount, count)
      let start = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for requests in clients {
          let session = hub.makeSession { _ in }
          group.addTask {
            for request in requests {
              let answer =
                turn == 0
                ? await session.answer(request)
                : try await session.callsFor(request)
              if answer.isEmpty { throw Unanswered() }
            }
          }
        }
        try await group.waitForAll()
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      rates[turn] = Double(clientCount * count) / seconds
    }
    lines.append(rates + [rates[0] / rates[1]])
    printAnswers(database, lines[pair])
  }
  printAnswers(
    database, (0..<3).map { i in lines.map { $0[i] }.sorted()[lines.count / 2] }
  )
}

/// Measures how long a save waits until a hub acknowledges it, with one client
/// and with 64 clients in one scope.
///
/// Each of 64 clients saves once a second, and one client saves as often as all
/// of them. The columns of a line are the database, the number of clients, the
/// saves, the 50th and 99th percentile in milliseconds, and the ratio of the
/// 99th one to that of one client.
func measureAcknowledgments(_ database: Database, seconds: Int) async throws {
  var first: Duration?
  for count in [1, clientCount] {
    let hub = try await database.openHub()
    let scope = "\(UUID())"
    let clients = try await makeClients(count, of: hub, in: scope)
    let interval = Duration.seconds(1) * count / clientCount
    let start = ContinuousClock.now + .milliseconds(100)
    let times = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for client in clients {
        let offset = interval * Double.random(in: 0..<1)
        group.addTask {
          var times: [Duration] = []
          for save in 0..<(seconds * clientCount / count) {
            let due = start + offset + interval * save
            times.append(try await client.sync(at: due))
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let last = times.percentile(99) ?? .zero
    first = first ?? last
    printLine([
      database.kind, "\(count)", "\(times.count)",
      milliseconds(times.percentile(50)), milliseconds(last),
      String(format: "%.2f", last / (first ?? last)),
    ])
  }
}

private let clientCount = 64
/// The maximum number of bytes of a part that a device wants by default.
private let partLimit = 256 << 10

/// A hub refused a request.
private struct Unanswered: Error {}

private func printAnswers(_ database: Database, _ line: [Double]) {
  printLine([
    database.kind, "\(clientCount)", String(format: "%.0f", line[0]),
    String(format: "%.0f", line[1]), String(format: "%.2f", line[2]),
  ])
}

/// Returns requests with one save each, of clients in scopes of their own.
private func recordedRequests(
  of clients: Int, _ count: Int
) async throws -> [[[UInt8]]] {
  let run = UUID()
  let hub = try await Hub(connections: 1) {
    try SQLiteConnection(opening: ":memory:")
  }
  var all: [[[UInt8]]] = []
  for i in 0..<clients {
    let scope = "\(run) \(i)"
    let client = try await Client(hub.makeSession { _ in }, in: scope)
    for _ in 0..<count { try await client.sync() }
    all.append(await client.requests)
  }
  return all
}

/// Returns clients that know the saves of each other.
private func makeClients(
  _ count: Int, of hub: Hub, in scope: String
) async throws -> [Client] {
  var clients: [Client] = []
  for _ in 0..<count {
    clients.append(try await Client(hub.makeSession { _ in }, in: scope))
  }
  for _ in 0..<2 {
    for client in clients { try await client.sync() }
  }
  return clients
}

/// A device that makes saves and sends them.
private actor Client {
  private let store: ReplicaStore
  private let session: HubSession
  private let scope: String
  private var shown: ReplicaVersion?
  private var round = 0
  /// The request with each save.
  private(set) var requests: [[UInt8]] = []

  init(_ session: HubSession, in scope: String) async throws {
    (self.session, self.scope) = (session, scope)
    store = try await ReplicaStore.inMemory(schema: [Item.self])
  }

  /// Makes a save at a time, or later if the last sync took longer.
  ///
  /// - Returns: The time until an answer contained the save. The wait for the
  ///   last sync counts. Otherwise, one slow sync would hide a save.
  func sync(at due: ContinuousClock.Instant) async throws -> Duration {
    var start = due
    if ContinuousClock.now < due {
      try await Task.sleep(until: due)
      start = .now
    }
    return try await sync() - start
  }

  /// Makes a save and exchanges it.
  ///
  /// - Returns: The time of the first answer that contained the save.
  @discardableResult
  func sync() async throws -> ContinuousClock.Instant {
    let number = round % 20
    round += 1
    try await store.save { $0[Item.self, "\(number)"].count.increment() }
    let (saved, log) = (await store.version, Log())
    let result = try await store.sync(scope: scope, assuming: shown) {
      [session] request in
      let answer = await session.answer(request)
      let now = ContinuousClock.now
      await log.add(request, try SyncMessage(decoding: answer), now, saved)
      return answer
    }
    shown = result.peerVersion
    guard let time = await log.time else { throw Unanswered() }
    requests += await log.requests
    return time
  }
}

/// The requests of a sync.
private actor Log {
  private(set) var requests: [[UInt8]] = []
  /// The time of the first answer that contained a save.
  private(set) var time: ContinuousClock.Instant?

  func add(
    _ request: [UInt8], _ answer: SyncMessage, _ now: ContinuousClock.Instant,
    _ saved: ReplicaVersion
  ) {
    requests.append(request)
    guard time == nil, let version = answer.version else { return }
    let contains = saved.vectorClock.entries.allSatisfy {
      version.vectorClock[$0.device] >= $0.count
    }
    if contains { time = now }
  }
}

extension HubSession {
  /// Performs the calls that `answer` replaces, from bytes to bytes.
  fileprivate func callsFor(_ request: [UInt8]) async throws -> [UInt8] {
    let message = try SyncMessage(decoding: request)
    let scope = message.scope
    guard let shown = message.version, let device = message.device else {
      throw Unanswered()
    }
    if let part = message.part { try await apply(part, in: scope) }
    let version = try await version(of: scope)
    let part = try await delta(since: shown, byteLimit: partLimit, in: scope)
    try await recordVersion(shown, of: device, in: scope)
    return version.encoded() + (part?.encoded() ?? [])
  }
}
