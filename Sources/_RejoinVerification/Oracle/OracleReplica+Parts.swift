// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The records after one and up to one, whose part in a transfer a message is.
struct OracleRange: Hashable {
  let after: RecordID?
  let through: RecordID?
  let sender: DeviceID

  func contains(_ id: RecordID) -> Bool {
    (after.map { $0 < id } ?? true) && (through.map { id <= $0 } ?? true)
  }
}

/// What the first records of a replica hold beyond its clock.
struct OraclePrefix: Hashable {
  let through: RecordID
  /// The last save of each device.
  var saves: [DeviceID: OracleDelta.Interval]
  /// Who has sent the part that ended here.
  var sender: DeviceID

  /// The prefix without the saves that a clock has.
  func beyond(_ clock: VectorClock) -> OraclePrefix? {
    var rest = self
    rest.saves = saves.filter { $0.value.to > clock[$0.key] }
    return rest.saves.isEmpty ? nil : rest
  }

  /// Whether it says of the records up to one that they hold a save.
  func says(_ device: DeviceID, _ save: UInt64, through: RecordID) -> Bool {
    through <= self.through && saves[device]?.to ?? 0 >= save
  }
}

/// The parts of transfers that were applied.
public struct PartCounts: Hashable, Sendable {
  /// The parts.
  public internal(set) var taken = 0
  /// Those that went on where one of another sender ended.
  public internal(set) var resumed = 0
  /// Those that replaced a prefix which said something else.
  public internal(set) var replaced = 0
  /// Those that were refused, because what they go on from is not here.
  public internal(set) var refused = 0
  /// Those that arrived again.
  public internal(set) var doubled = 0
  /// Those with a part of a large field.
  public internal(set) var large = 0
  /// The devices that turned out to be forked while a prefix had saves of them.
  public internal(set) var forks = 0
  /// Those that arrived after a backup from another time of the transfer was put back.
  public internal(set) var restores = 0

  /// Creates counts of nothing.
  public init() {}

  /// Adds what was done elsewhere.
  public static func += (a: inout PartCounts, b: PartCounts) {
    a.taken += b.taken
    a.resumed += b.resumed
    a.replaced += b.replaced
    a.refused += b.refused
    a.doubled += b.doubled
    a.large += b.large
    a.forks += b.forks
    a.restores += b.restores
  }
}

extension PartCounts: CustomStringConvertible {
  /// The counts as part of a line.
  public var description: String {
    "\(taken) (\(resumed) resumed by another sender, \(replaced) replaced a prefix, "
      + "\(refused) refused, \(doubled) doubled, \(large) of large fields, "
      + "\(forks) met a fork, \(restores) a restored backup)"
  }
}

extension OracleReplica {
  var prefix: OraclePrefix? { knowledge.prefix }

  /// The last save of a device that the clock or the prefix has.
  func lastKnown(of device: DeviceID) -> UInt64 {
    max(clock[device], prefix?.saves[device]?.to ?? 0)
  }

  /// Takes the saves of a message whose earlier saves are here.
  mutating func take(
    _ saves: [DeviceID: OracleDelta.Interval], of delta: OracleDelta,
    _ receipt: inout OracleReceipt
  ) {
    var taken = saves
    let former = prefix
    if let range = delta.range {
      receipt.parts.taken += 1
      receipt.parts.large += delta.fragments.isEmpty ? 0 : 1
      if let after = range.after {
        // It is about the records that follow. Of those before, only the prefix
        // tells which saves they hold.
        taken = [:]
        for (device, save) in saves {
          guard let former, former.says(device, 1, through: after),
            let held = former.saves[device]
          else {
            receipt.gaps.insert(device)
            receipt.parts.refused = 1
            continue
          }
          taken[device] = held.to < save.to ? held : save
        }
        let isResumed = !taken.isEmpty && former?.sender != range.sender
        receipt.parts.resumed += isResumed ? 1 : 0
      }
    }
    guard let through = delta.range?.through else {
      for (device, save) in taken {
        knowledge.clock.advance(to: Dot(device, save.to))
        knowledge.times[device] = save.time
      }
      return
    }
    let isKnown = taken.allSatisfy { device, save in
      former?.says(device, save.to, through: through) ?? false
    }
    if isKnown { return }
    knowledge.prefix = OraclePrefix(
      through: through, saves: taken, sender: delta.range?.sender ?? device)
    let isGrown = former.map { former in
      former.saves.allSatisfy {
        knowledge.prefix?.says($0, $1.to, through: former.through) ?? false
      }
    }
    receipt.parts.replaced += isGrown ?? true ? 0 : 1
  }

  /// The part of what a receiver lacks that a message is said to be.
  ///
  /// - Parameters:
  ///   - through: The last record of the part, or `nil` if no other follows.
  ///   - basis: The clock that the receiver shows.
  func part(
    through: RecordID?, since basis: VectorClock, at receiver: OracleReplica
  ) -> OracleDelta? {
    guard var part = delta(since: basis, at: receiver) else { return nil }
    var after: RecordID?
    if let prefix = receiver.prefix {
      var continued: [DeviceID: OracleDelta.Interval] = [:]
      for (device, interval) in part.intervals {
        guard let held = prefix.saves[device] else { continue }
        let to = min(held.to, interval.to)
        if to > interval.from {
          continued[device] = .init(
            from: interval.from, to: to,
            time: to == held.to ? held.time : interval.time)
        }
      }
      if !continued.isEmpty {
        (after, part.intervals) = (prefix.through, continued)
        part.fields = missing(
          since: basis, at: receiver, beside: continued.keys
        ).filter { path, _ in
          // What others have saved follows later.
          field(path).clock.entries.contains {
            continued[$0.device] != nil && $0.count > basis[$0.device]
          }
        }
      }
    }
    if after != nil || through != nil {
      let range = OracleRange(after: after, through: through, sender: device)
      part.range = range
      part.fields = part.fields.filter { range.contains($0.key.id) }
    }
    return part
  }
}

extension OracleReplica {
  /// Checks that every effect of every save in the clock is here, and of every save in
  /// the prefix that on the first records.
  ///
  /// - Parameters:
  ///   - saves: The places of the saves that were made.
  ///   - suspects: The devices that may have two histories.
  func checkSoundness(
    of saves: some Sequence<Int>, except suspects: Set<DeviceID> = [],
    named name: String
  ) throws(ScriptMismatch) {
    for place in saves.sorted() {
      let (save, dot) = (history.saves[place], history.saves[place].dot)
      if suspects.contains(dot.device) { continue }
      for path in save.edits.keys
      where clock.contains(dot)
        || prefix?.says(dot.device, dot.sequence, through: path.id) ?? false
      {
        if held[path]?.contains(place) ?? false { continue }
        throw ScriptMismatch("law 8: \(dot) of \(path) is not on \(name)")
      }
    }
  }
}
