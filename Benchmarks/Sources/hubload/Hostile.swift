// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore

/// Measures the syncs of a member before, during and after an attack.
///
/// The columns of the line are the database, the attack, the bytes of the first
/// and of the last message, the messages that were sent and refused, the time
/// of the first message and the median of the others, the 50th and 99th
/// percentile of the member's syncs before, during and after the attack, the
/// ratio of the medians during and before, and after and before, and the start
/// of the first error. All times are in milliseconds.
func measureAttack(
  _ kind: HostileKind, _ database: Database, seconds: Double, fraction: Int,
  messagesPerSecond: Double?
) async throws {
  let messages: [[UInt8]]
  do { messages = try kind.messages(fraction: max(fraction, 1)) } catch {
    printLine([database.kind, kind.rawValue, "a save refused it: \(error)"])
    return
  }
  let (hub, scope) = (try await database.openHub(), "\(UUID())")
  let member = try await Member(hub.makeSession { _ in }, in: scope)
  let attack = Attack(
    hub, in: kind == .neighbor ? "\(scope) 2" : scope, kind)
  let pause = Duration.seconds(seconds)

  let before = try await member.sync(until: timer(pause))
  async let end: Void = attack.send(
    messages, for: pause, every: messagesPerSecond.map { .seconds(1 / $0) })
  let during = try await member.sync { await attack.isOver }
  await end
  let after = try await member.sync(until: timer(pause))

  let times = await attack.times
  let refused = await attack.refused
  let medians = [before, during, after].map {
    $0.percentile(50)?.milliseconds ?? .nan
  }
  let columns =
    [
      database.kind, kind.rawValue, "\(messages.first?.count ?? 0)",
      "\(messages.last?.count ?? 0)", "\(times.count)", "\(refused.count)",
      milliseconds(times.first),
      milliseconds(Array(times.dropFirst()).percentile(50)),
    ]
    + [before, during, after].flatMap {
      [milliseconds($0.percentile(50)), milliseconds($0.percentile(99))]
    }
    + [
      String(format: "%.1f", medians[1] / medians[0]),
      String(format: "%.1f", medians[2] / medians[0]),
      refused.first.map { String("\($0)".prefix(120)) } ?? "none",
    ]
  printLine(columns)
}

/// Returns a closure that returns `true` after a duration.
private func timer(_ duration: Duration) -> () async -> Bool {
  let end = ContinuousClock.now + duration
  return { ContinuousClock.now >= end }
}

/// A device that saves in a scope with 1,000 records every 50 ms.
private final class Member {
  private static let interval = Duration.milliseconds(50)

  private let replica = makeReplica()
  private let session: HubSession
  private let scope: String
  private var round = 0

  init(_ session: HubSession, in scope: String) async throws {
    (self.session, self.scope) = (session, scope)
    try replica.save { transaction in
      for i in 0..<1_000 { transaction[Item.self, "\(i)"].title = "Item \(i)" }
    }
    if let delta = replica.delta() { try await session.apply(delta, in: scope) }
  }

  /// Syncs until a condition holds.
  ///
  /// - Returns: The duration of each sync. A sync that takes longer than the
  ///   interval delays later saves. The waiting times of these saves count as
  ///   durations. Otherwise, one slow sync would hide many saves.
  func sync(until isOver: () async -> Bool) async throws -> [Duration] {
    var durations: [Duration] = []
    while await !isOver() {
      let start = ContinuousClock.now
      round += 1
      var isSynced = false
      while !isSynced {
        do {
          try await hubload.sync(replica, session, in: scope, round)
          isSynced = true
        } catch StoreError.busy {}
      }
      var duration = ContinuousClock.now - start
      durations.append(duration)
      while duration >= Member.interval * 2 {
        duration -= Member.interval
        durations.append(duration)
      }
      try await Task.sleep(until: start + Member.interval)
    }
    return durations
  }
}

/// A client that sends hostile messages one after another.
private actor Attack {
  private let session: HubSession
  private let scope: String
  private(set) var isOver = false
  /// The time of each message.
  private(set) var times: [Duration] = []
  /// The errors of the refused messages.
  private(set) var refused: [any Error] = []

  init(_ hub: Hub, in scope: String, _ kind: HostileKind) {
    self.scope = scope
    session = hub.makeSession { access in
      if kind == .refused, case .write = access { throw Refused() }
    }
  }

  /// An error of the session's check.
  private struct Refused: Error {}

  /// Sends the messages repeatedly for a duration.
  ///
  /// - Parameter interval: The time from one message to the next, or `nil` to
  ///   send without a pause.
  func send(
    _ messages: [[UInt8]], for duration: Duration, every interval: Duration?
  ) async {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end {
      let start = ContinuousClock.now
      do {
        try await request(messages[times.count % messages.count])
      } catch { refused.append(error) }
      times.append(ContinuousClock.now - start)
      if let interval { try? await Task.sleep(until: start + interval) }
    }
    isOver = true
  }

  /// Sends a message as bytes, as a server receives it.
  private nonisolated func request(_ bytes: [UInt8]) async throws {
    try await session.apply(Delta(decoding: bytes), in: scope)
  }
}
