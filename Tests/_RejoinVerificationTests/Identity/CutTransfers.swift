// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A random history of three devices with interrupted transfers, undetected
/// clones, restored backups, and devices that are lost at the end.
struct CutTransfers {
  /// The form of uninterrupted transfers.
  enum Transport { case wholeDeltas, parts }

  /// The numbers of a history.
  struct Counts {
    /// The number of clones and restored backups.
    var copies = 0
    /// The number of parts that arrived.
    var parts = 0
    /// The number of transfers from or to the relay that were cut.
    var cuts = 0
    /// The number of parts that showed a fork or a rollback.
    var alarms = 0

    static func += (a: inout Counts, b: Counts) {
      a.copies += b.copies
      a.parts += b.parts
      a.cuts += b.cuts
      a.alarms += b.alarms
    }
  }

  private var random: SeededRandom
  private let transport: Transport
  /// The maximum number of clones and restored backups.
  private let copyLimit: Int
  /// The percentage of devices that are lost at the end.
  private let losses: Int
  /// Whether the devices meet only at the relay.
  private let isRelayed: Bool
  private var replicas: [Replica] = []
  private var relay = 2
  private var backups: [(state: ReplicaState, place: Int)] = []
  private(set) var counts = Counts()

  private static let name = FieldKey("name", .register)
  private static let tags = FieldKey("tags", .set)
  private static let clock = WallClock { 1_700_000_000_000 }
  private static let schema = Schema(["E": .init(fields: [name, tags])])

  init(seed: UInt64, copies: Int, losses: Int, by transport: Transport) {
    random = SeededRandom(seed: seed)
    (copyLimit, self.losses, self.transport) = (copies, losses, transport)
    isRelayed = random.chance(percent: 50)
    replicas = (1...3).map { number in
      Replica(
        device: DeviceID(number), schema: Self.schema,
        wallClock: Self.clock, makeDeviceID: Self.ids(after: 100 * number))
    }
  }

  private static func ids(after first: UInt64) -> () -> DeviceID {
    var last = first
    return {
      last += 1
      return DeviceID(last)
    }
  }

  /// Runs the history, and exchanges all changes between the remaining devices.
  ///
  /// - Returns: Whether all of them end with the same bytes.
  mutating func run() throws -> Bool {
    for step in 0..<(10 + random.number(below: 30)) {
      let i = random.number(below: replicas.count)
      switch random.number(below: 100) {
      case 0..<8: if i != relay { backups.append((replicas[i].state, i)) }
      case 8..<(copyLimit > 2 ? 20 : 14): openBackup()
      case 14..<50: if i != relay { try save(on: i, step) }
      default: meet(i)
      }
    }
    loseDevices()
    var rounds = 0
    while rounds < 12, exchange() { rounds += 1 }
    let deltas = replicas.map { $0.delta() }
    return deltas.allSatisfy { $0 == deltas[0] }
  }

  private mutating func save(on i: Int, _ step: Int) throws {
    let keys = (0...random.number(below: 3)).map { _ in
      random.number(below: 6)
    }
    let isTagged = random.chance(percent: 20)
    try replicas[i].save { transaction in
      for key in keys {
        let id = RecordID("E", "\(key)")
        transaction.apply(
          .write(.string("\(i) \(step)")), to: Self.name, of: id)
        if isTagged {
          transaction.apply(
            .members(SetEdit(inserting: [.int(Int64(step))])), to: Self.tags,
            of: id)
        }
      }
    }
  }

  /// Opens a backup with its own token, instead of its device or next to it.
  private mutating func openBackup() {
    if backups.isEmpty { return }
    let (state, place) = random.pick(backups)
    if counts.copies == copyLimit { return }
    counts.copies += 1
    let copy = Replica(
      opening: state, token: RestoreToken(state), schema: Self.schema,
      wallClock: Self.clock,
      makeDeviceID: Self.ids(after: UInt64(100_000 + 100 * counts.copies)))
    if random.chance(percent: 50) {
      replicas[place] = copy
    } else if replicas.count < (copyLimit > 2 ? 6 : 5) {
      replicas.append(copy)
    }
  }

  private mutating func meet(_ i: Int) {
    var (i, j) = (
      i, (i + 1 + random.number(below: replicas.count - 1)) % replicas.count
    )
    if isRelayed, i != relay, j != relay { j = relay }
    if random.chance(percent: 50) { swap(&i, &j) }
    let isShown = random.chance(percent: 60)
    let isWhole = random.chance(percent: copyLimit > 2 ? 20 : 40)
    let count = isWhole ? nil : 1 + random.number(below: 4)
    send(from: i, to: j, isShown: isShown, atMost: count)
    if random.chance(percent: 40) { send(from: j, to: i, isShown: isShown) }
  }

  private mutating func loseDevices() {
    for i in replicas.indices.reversed() where replicas.count > 2 {
      guard random.chance(percent: losses), i != relay || !isRelayed else {
        continue
      }
      replicas.remove(at: i)
      if i < relay { relay -= 1 }
    }
  }

  /// Exchanges all changes.
  ///
  /// - Returns: Whether anything changed.
  private mutating func exchange() -> Bool {
    var hasAdvanced = false
    for i in replicas.indices {
      for j in replicas.indices
      where i != j && (!isRelayed || i == relay || j == relay) {
        if send(from: i, to: j, isShown: true) { hasAdvanced = true }
      }
    }
    return hasAdvanced
  }

  /// Sends changes, and cuts the transfer after some parts unless `count` is
  /// `nil`.
  ///
  /// - Returns: Whether the receiver advanced.
  @discardableResult
  private mutating func send(
    from i: Int, to j: Int, isShown: Bool, atMost count: Int? = nil
  ) -> Bool {
    let (sender, receiver) = (replicas[i], replicas[j])
    if isShown {
      note(sender.recordVersion(receiver.version, of: receiver.device))
    }
    if count == nil, transport == .wholeDeltas {
      guard let delta = sender.delta(since: receiver.version) else {
        return false
      }
      return note(receiver.apply(delta))
    }
    var hasAdvanced = false
    for _ in 0..<(count ?? 200) {
      guard let part = sender.delta(since: receiver.version, byteLimit: 1),
        note(receiver.apply(part))
      else { return hasAdvanced }
      counts.parts += 1
      hasAdvanced = true
    }
    if i == relay || j == relay { counts.cuts += 1 }
    return hasAdvanced
  }

  /// Counts the faults in a report.
  ///
  /// - Returns: Whether the replica advanced.
  @discardableResult
  private mutating func note(_ report: MergeReport) -> Bool {
    let isQuiet =
      report.forkedDevices.isEmpty && report.lastSaveBeforeRollback == nil
    counts.alarms += isQuiet ? 0 : 1
    return report.hasAdvanced
  }
}
