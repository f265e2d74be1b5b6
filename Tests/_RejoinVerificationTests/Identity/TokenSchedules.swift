// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

/// A search of all schedules of one device.
///
/// The device saves, stores its state or token, sends, receives a version,
/// crashes, or restores a backup. Replicas of the library perform each pair of
/// a state and a step once. The search itself uses numbers.
struct TokenSchedules {
  /// The states of the device, its files and the peer, as numbers.
  struct Configuration: Hashable {
    /// The state in memory, the stored state, and the backup.
    var memory = 0
    var disk = 0
    var backup: Int?
    /// The stored token, and the state that it belongs to.
    var token = 0
    var outbox = 0
    /// The sent saves, and the state of the peer.
    var sent = 0
    var peer = 1
    var saves = 0
    var crashes = 0
    var fresh = 0
    /// Whether the stored state is a restored backup.
    var isRestored = false
    var wasRestored = false
  }

  /// A replica at one time, with its former saves.
  struct State {
    let replica: ReplicaUnderTest
    let history: [Save]
    var device: DeviceID { replica.device }
  }

  /// The dot and the content of a save.
  struct Save: Hashable {
    let dot: Dot
    let value: Int
  }

  /// A mistake of a caller.
  enum Mistake {
    /// The device opens only with the token of exactly the stored state.
    case equality
    /// The device sends before it stores the token.
    case sendsFirst
  }

  /// The next unused device number.
  private final class Names {
    var next: UInt64 = 0
  }

  /// The results of the search.
  struct Counts: CustomStringConvertible {
    var configurations = 0
    var steps = 0
    var executions = 0
    var renewals = 0
    /// New device IDs without a restored backup.
    var needless = 0
    /// Dots that were sent with two contents.
    var doubled = 0
    /// Device IDs that were kept although sent saves are missing.
    var missed = 0

    var description: String {
      "\(configurations) configurations, \(steps) steps, \(executions) "
        + "executions, \(renewals) renewals, \(needless) without a restore, "
        + "\(doubled) doubled names, \(missed) missed restores"
    }
  }

  var mistake: Mistake?
  /// The maximum numbers of steps, saves and crashes.
  var depth = 10
  var saveLimit = 4
  var crashLimit = 2
  private(set) var counts = Counts()
  private let names = Names()
  private var states: [State] = []
  private var places: [[UInt8]: Int] = [:]
  private var tokens: [RestoreToken] = []
  private var tokenPlaces: [RestoreToken: Int] = [:]
  private var sent: [Set<Save>] = [[]]
  private var sentPlaces: [Set<Save>: Int] = [[]: 0]
  private var memo: [[Int]: Int] = [:]

  /// - Parameter isWatched: Whether a peer saved. Then no save is stable before
  ///   the peer reports it.
  init(isWatched: Bool) throws {
    var (device, peer) = (replica(1), replica(2))
    if isWatched {
      _ = try peer.save([.touch(RecordID("E", "peer"))], now: 1)
      if let news = peer.message(since: device.version) {
        _ = device.apply(news, now: 1)
      }
    }
    _ = intern(device, [])
    _ = intern(peer, [])
    _ = intern(device.restoreToken)
  }

  private func replica(_ number: UInt64) -> ReplicaUnderTest {
    ReplicaUnderTest(
      device: DeviceID(number), schema: Schema(["E": .init()]),
      makeDeviceID: { [names] in DeviceID(names.next) })
  }

  private mutating func intern(
    _ replica: ReplicaUnderTest, _ history: [Save]
  ) -> Int {
    let bytes = replica.replica.state.encoded()
    if let place = places[bytes] { return place }
    places[bytes] = states.count
    states.append(State(replica: replica, history: history))
    return states.count - 1
  }

  private mutating func intern(_ token: RestoreToken) -> Int {
    if let place = tokenPlaces[token] { return place }
    tokenPlaces[token] = tokens.count
    tokens.append(token)
    return tokens.count - 1
  }

  /// Tries all schedules, in order of their steps.
  mutating func search() throws {
    var seen: Set<Configuration> = [Configuration()]
    var level = Array(seen)
    for _ in 0..<depth {
      var next: [Configuration] = []
      for configuration in level {
        for successor in try successors(of: configuration) {
          counts.steps += 1
          if seen.insert(successor).inserted { next.append(successor) }
        }
      }
      level = next
    }
    counts.configurations = seen.count
  }

  private mutating func successors(
    of here: Configuration
  ) throws -> [Configuration] {
    var all: [Configuration] = []
    if here.saves < saveLimit { all.append(try saving(here)) }
    if here.disk != here.memory || here.isRestored {
      var next = here
      (next.disk, next.isRestored) = (here.memory, false)
      all.append(next)
    }
    if let next = storingToken(here) { all.append(next) }
    if let next = sending(here) { all.append(next) }
    all.append(try shown(here))
    if here.backup == nil {
      var next = here
      next.backup = here.disk
      all.append(next)
    }
    if here.crashes < crashLimit {
      var next = here
      next.crashes += 1
      all.append(try opened(next))
    }
    if let backup = here.backup, !here.wasRestored {
      var next = here
      (next.disk, next.isRestored, next.wasRestored) = (backup, true, true)
      all.append(try opened(next))
    }
    return all
  }

  /// Returns the result of a step, which runs once for each key.
  private mutating func execute(
    _ key: [Int], _ body: (inout TokenSchedules) throws -> Int
  ) rethrows -> Int {
    if let known = memo[key] { return known }
    counts.executions += 1
    let result = try body(&self)
    memo[key] = result
    return result
  }
}

// The steps.
extension TokenSchedules {
  private mutating func saving(
    _ here: Configuration
  ) throws -> Configuration {
    var next = here
    next.saves += 1
    next.memory = try execute([0, here.memory, here.saves]) { run in
      let old = run.states[here.memory]
      var replica = old.replica.copy()
      let value = FieldEdit.write(.int(Int64(here.saves)))
      let dot = try replica.save(
        [.edit(RecordID("E", "a"), FieldKey("f", .register), value)], now: 1)
      guard let dot, dot.device == old.device else {
        run.counts.needless += 1
        return here.memory
      }
      return run.intern(
        replica, old.history + [Save(dot: dot, value: here.saves)])
    }
    return next
  }

  private mutating func storingToken(_ here: Configuration) -> Configuration? {
    // The token belongs to the replica in use.
    guard states[here.disk].device == states[here.memory].device else {
      return nil
    }
    let token = intern(states[here.disk].replica.restoreToken)
    if token == here.token, here.outbox == here.disk { return nil }
    var next = here
    (next.token, next.outbox) = (token, here.disk)
    next.memory = execute([1, here.memory, token]) { run in
      var replica = run.states[here.memory].replica.copy()
      _ = replica.confirmTokenStored(run.tokens[token])
      return run.intern(replica, run.states[here.memory].history)
    }
    return next
  }

  /// Sends the saves that the token covers, or all saves by mistake.
  private mutating func sending(_ here: Configuration) -> Configuration? {
    let source = mistake == .sendsFirst ? here.memory : here.outbox
    let (state, device) = (states[source], states[here.memory].device)
    guard state.device == device else { return nil }
    let all = sent[here.sent].union(state.history)
    if all == sent[here.sent] { return nil }
    if Set(all.map(\.dot)).count < all.count { counts.doubled += 1 }
    var next = here
    next.sent = sentPlaces[all] ?? sent.count
    if next.sent == sent.count {
      sentPlaces[all] = sent.count
      sent.append(all)
    }
    next.peer = execute([2, source, here.peer]) { run in
      var peer = run.states[here.peer].replica.copy()
      guard let news = state.replica.message(since: peer.version) else {
        return here.peer
      }
      _ = peer.apply(news, now: 1)
      return run.intern(peer, [])
    }
    return next
  }

  /// The peer reports its version.
  private mutating func shown(
    _ here: Configuration
  ) throws -> Configuration {
    var next = here
    next.memory = try execute([3, here.memory, here.peer]) { run in
      var replica = run.states[here.memory].replica.copy()
      try replica.recordVersion(of: run.states[here.peer].replica, now: 1)
      return run.intern(replica, run.states[here.memory].history)
    }
    return next
  }

  /// Opens the stored state with the stored token.
  private mutating func opened(
    _ here: Configuration
  ) throws -> Configuration {
    var next = here
    var token: Int? = here.token
    if mistake == .equality,
      states[here.disk].replica.restoreToken != tokens[here.token]
    {
      token = nil
    }
    next.memory = try execute([4, here.disk, token ?? -1, here.fresh]) { run in
      let stored = run.states[here.disk]
      var replica = stored.replica.copy()
      run.names.next = UInt64(100 + here.fresh)
      try replica.reopen(with: token.map { run.tokens[$0] }, now: 1)
      return run.intern(replica, stored.history)
    }
    check(here, next.memory)
    if states[next.memory].device != states[here.disk].device {
      next.fresh += 1
    }
    return next
  }

  private mutating func check(_ here: Configuration, _ memory: Int) {
    let (device, old) = (states[memory].device, states[here.disk].device)
    if device == old {
      let gone = sent[here.sent].subtracting(states[memory].history)
      counts.missed += gone.contains { $0.dot.device == device } ? 1 : 0
      return
    }
    counts.renewals += 1
    let isExpected =
      here.isRestored
      || here.wasRestored && tokens[here.token].device != old
    counts.needless += isExpected ? 0 : 1
  }
}
