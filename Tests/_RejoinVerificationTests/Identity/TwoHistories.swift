// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import _RejoinVerification

/// A random history of three devices, one of them possibly with an undetected
/// clone.
struct TwoHistories {
  private var random: SeededRandom
  /// Two devices, the relay, and the clone.
  private var replicas: [ReplicaUnderTest]
  private let isRelayed: Bool
  private var clonesLeft: Int
  /// The number of reported forks.
  private(set) var alarms = 0

  private static let fields = (0..<4).map {
    FieldLocation(
      record: RecordID("E", "\($0)"), field: FieldKey("f", .register))
  }

  init(seed: UInt64, clones: Int, isRelayed: Bool) {
    random = SeededRandom(seed: seed)
    (clonesLeft, self.isRelayed) = (clones, isRelayed)
    replicas = (0..<3).map { number in
      var next = UInt64(100 * (number + 1))
      return ReplicaUnderTest(
        device: DeviceID(UInt64(number + 1)), schema: Schema(["E": .init()]),
        makeDeviceID: {
          next += 1
          return DeviceID(next)
        })
    }
  }

  private static let relay = 2
  private var users: [Int] { replicas.indices.filter { $0 != Self.relay } }

  /// Runs the history, and exchanges all changes.
  ///
  /// - Returns: Whether all replicas end in an equal state.
  mutating func run() throws -> Bool {
    for step in 0..<(6 + random.number(below: 20)) {
      if clonesLeft > 0, random.chance(percent: 15),
        replicas[0].version.vectorClock != [:]
      {
        replicas.append(replicas[0].copy())
        clonesLeft -= 1
      }
      if random.chance(percent: 50) {
        try save(random.pick(users), step)
      } else if random.chance(percent: 80) {
        let i = random.number(below: replicas.count)
        exchange(
          i, (i + 1 + random.number(below: replicas.count - 1)) % replicas.count
        )
      }
    }
    for _ in 0..<8 where try !isSilent() {}
    let fields = replicas.map { Delta($0.replica.delta()?.changes ?? []) }
    return fields.allSatisfy { $0 == fields[0] }
  }

  private mutating func save(_ i: Int, _ step: Int) throws {
    let location = random.pick(Self.fields)
    let value = Value.string("\(i) \(step)")
    _ = try replicas[i].save(
      [.edit(location.record, location.field, .write(value))],
      now: Int64(random.number(below: 4)))
  }

  private mutating func exchange(_ i: Int, _ j: Int) {
    var (i, j) = (i, j)
    if isRelayed, i != Self.relay, j != Self.relay { j = Self.relay }
    if random.chance(percent: 50) { swap(&i, &j) }
    tell(from: i, to: j)
    if random.chance(percent: 70) { tell(from: j, to: i) }
  }

  /// - Returns: Whether the receiver lacked changes.
  @discardableResult
  private mutating func tell(from i: Int, to j: Int) -> Bool {
    let (sender, receiver) = (replicas[i].replica, replicas[j].replica)
    note(sender.recordVersion(receiver.version, of: receiver.device))
    guard let news = sender.delta(since: receiver.version) else { return false }
    note(receiver.apply(news, reporting: .faults))
    return true
  }

  private mutating func note(_ report: MergeReport) {
    let isQuiet =
      report.forkedDevices.isEmpty && report.equivocations.isEmpty
      && report.lastSaveBeforeRollback == nil
    alarms += isQuiet ? 0 : 1
  }

  /// Sends changes between all pairs of devices that meet.
  private mutating func isSilent() throws -> Bool {
    var isSilent = true
    for i in replicas.indices {
      for j in replicas.indices
      where i != j && (!isRelayed || i == Self.relay || j == Self.relay) {
        if tell(from: i, to: j) { isSilent = false }
      }
    }
    return isSilent
  }
}
