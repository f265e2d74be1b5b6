// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import _RejoinVerification
import Testing

/// Random histories that permanently lose halves of messages.
///
/// The other halves arrive at any time at any device.
private struct LostHalves {
  private let seed: UInt64
  private var random: SeededRandom
  private var replicas: [ReplicaUnderTest]
  private var kept: [Delta] = []
  private(set) var aheadCount = 0
  private(set) var longest = 0

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    replicas = (1...4).map { number in
      ReplicaUnderTest(
        device: DeviceID(number), schema: Schema(["E": .init()]),
        makeDeviceID: { DeviceID(number + 10) })
    }
  }

  mutating func run() throws {
    for step in 0..<(10 + random.number(below: 30)) {
      let i = random.number(below: replicas.count)
      switch random.number(below: 100) {
      case 0..<40: try save(i, step)
      case 40..<75: keep(from: i, for: other(than: i))
      case 75..<95: if !kept.isEmpty { try receive(random.pick(kept), at: i) }
      default: try sync(from: other(than: i), to: i)
      }
      try checkLoop(from: i, to: other(than: i))
    }
    for _ in 0..<3 {
      for i in replicas.indices {
        for j in replicas.indices where i != j { try sync(from: i, to: j) }
      }
    }
    let contents = replicas.map(\.contents)
    #expect(contents.allSatisfy { $0 == contents[0] }, "seed \(seed)")
  }

  private mutating func other(than i: Int) -> Int {
    (i + 1 + random.number(below: replicas.count - 1)) % replicas.count
  }

  private mutating func save(_ i: Int, _ step: Int) throws {
    let verbs = (0...random.number(below: 2)).map { _ in
      ScriptVerb.edit(
        RecordID("E", "\(random.number(below: 3))"),
        FieldKey("f\(random.number(below: 2))", .register),
        .write(.int(Int64(step))))
    }
    _ = try replicas[i].save(verbs, now: 1)
  }

  /// Keeps a message or one half of it.
  private mutating func keep(from i: Int, for j: Int) {
    let basis = replicas[j].version
    guard let news = replicas[i].message(since: basis) else { return }
    let isWhole = random.chance(percent: 25)
    kept.append(isWhole ? news : random.pick(news.split(into: 2)))
  }

  private mutating func receive(_ message: Delta, at i: Int) throws {
    _ = replicas[i].apply(try ReplicaUnderTest.arrival(of: message), now: 1)
  }

  private mutating func sync(from i: Int, to j: Int) throws {
    if let news = replicas[i].message(since: replicas[j].version) {
      try receive(news, at: j)
    }
  }

  /// Expects that repeated requests end with the content of both replicas.
  private mutating func checkLoop(from i: Int, to j: Int) throws {
    let (sender, target) = (replicas[i], replicas[j])
    let isAhead =
      !(sender.version.fieldsAhead.isEmpty
      && target.version.fieldsAhead.isEmpty)
    aheadCount += isAhead ? 1 : 0
    // Many other tests check replicas without fields ahead.
    guard isAhead || random.chance(percent: 5) else { return }
    var (asking, whole) = (target.copy(), target.copy())
    var count = 0
    while count < 3, let news = sender.message(since: asking.version) {
      _ = asking.apply(try ReplicaUnderTest.arrival(of: news), now: 1)
      count += 1
    }
    longest = max(longest, count)
    if let all = sender.message(since: ReplicaVersion()) {
      _ = whole.apply(all, now: 1)
    }
    #expect(asking.contents == whole.contents, "seed \(seed)")
  }
}

@Suite struct LostHalvesTests {
  init() throws { try Premises.check() }

  @Test(arguments: 0..<2)
  func askingAgainEndsAfterOneDelta(half: UInt64) throws {
    let histories: UInt64 = Tier.isNightly ? 1500 : 500
    var (ahead, longest) = (0, 0)
    for seed in (half * histories)..<((half + 1) * histories) {
      var history = LostHalves(seed: seed)
      do { try history.run() } catch {
        Issue.record("seed \(seed): \(error)")
        continue
      }
      ahead += history.aheadCount
      longest = max(longest, history.longest)
    }
    print(
      "lost halves: \(histories) histories, \(ahead) exchanges with fields ahead, "
        + "at most \(longest) delta")
    #expect(longest == 1)
    #expect(ahead > 3 * histories)
  }
}
