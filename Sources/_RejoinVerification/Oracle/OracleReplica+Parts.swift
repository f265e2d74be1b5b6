// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The range of records in a part of a transfer.
struct OracleRange: Hashable {
  let after: RecordID?
  let through: RecordID?
  let sender: DeviceID
  /// The end of the sender's prefix that the part belongs to.
  var end: RecordID?

  func contains(_ id: RecordID) -> Bool {
    (after.map { $0 < id } ?? true) && (through.map { id <= $0 } ?? true)
  }
}

/// The last save of a device that the first records contain ahead of the clock.
struct OraclePrefix: Hashable {
  let through: RecordID
  let save: OracleDelta.Interval
  /// The sender of the last part.
  var sender: DeviceID

  /// Returns whether the records up to `through` contain a save.
  func says(_ save: UInt64, through: RecordID) -> Bool {
    through <= self.through && save <= self.save.to
  }
}

/// Counts of parts of transfers.
public struct PartCounts: Hashable, Sendable {
  /// The number of parts.
  public internal(set) var taken = 0
  /// The number of parts that continued a part from another sender.
  public internal(set) var resumed = 0
  /// The number of parts that replaced a longer prefix or one with later saves.
  public internal(set) var replaced = 0
  /// The number of parts that were refused because the previous part is
  /// missing.
  public internal(set) var refused = 0
  /// The number of repeated parts.
  public internal(set) var doubled = 0
  /// The number of parts with a fragment of a large field.
  public internal(set) var large = 0
  /// The number of devices that were found to be forked while a prefix
  /// contained their saves.
  public internal(set) var forks = 0
  /// The number of parts that arrived after the restore of a backup from
  /// another point of the transfer.
  public internal(set) var restores = 0
  /// The number of parts with saves of a device whose storage was restored or
  /// copied without being detected.
  public internal(set) var copies = 0
  /// The number of such parts from a third device.
  public internal(set) var relayedCopies = 0

  /// Creates counts of zero.
  public init() {}

  /// Adds other counts.
  public static func += (a: inout PartCounts, b: PartCounts) {
    a.taken += b.taken
    a.resumed += b.resumed
    a.replaced += b.replaced
    a.refused += b.refused
    a.doubled += b.doubled
    a.large += b.large
    a.forks += b.forks
    a.restores += b.restores
    a.copies += b.copies
    a.relayedCopies += b.relayedCopies
  }
}

extension PartCounts: CustomStringConvertible {
  /// The counts as part of a line.
  public var description: String {
    "\(taken) (\(resumed) resumed by another sender, \(replaced) replaced a prefix, "
      + "\(refused) refused, \(doubled) doubled, \(large) of large fields, "
      + "\(forks) met a fork, \(restores) a restored backup, \(copies) of "
      + "copied devices, \(relayedCopies) relayed)"
  }
}

extension OracleReplica {
  var prefixes: [DeviceID: OraclePrefix] { knowledge.prefixes }

  /// Returns the last save of a device in the clock or in a prefix.
  func lastKnown(of device: DeviceID) -> UInt64 {
    max(clock[device], prefixes[device]?.save.to ?? 0)
  }

  /// Adds saves of a delta, whose earlier saves are known, to the clock or a
  /// prefix.
  mutating func take(
    _ saves: [DeviceID: OracleDelta.Interval], of delta: OracleDelta,
    _ receipt: inout OracleReceipt
  ) {
    if delta.range != nil {
      receipt.parts.taken += 1
      receipt.parts.large += delta.fragments.isEmpty ? 0 : 1
    }
    let former = prefixes
    for (device, save) in saves {
      var taken = save
      if let after = delta.range?.after {
        // Only a prefix covers the records before this part.
        guard let held = former[device], held.says(1, through: after) else {
          receipt.gaps.insert(device)
          receipt.parts.refused = 1
          continue
        }
        if held.save.to < save.to { taken = held.save }
        if held.sender != delta.range?.sender { receipt.parts.resumed = 1 }
      }
      guard let range = delta.range, let through = range.through else {
        knowledge.clock.advance(to: Dot(device, taken.to))
        knowledge.times[device] = taken.time
        continue
      }
      // A sender that starts again may not continue a prefix of other saves.
      let isContinued =
        range.after != nil || former[device]?.save.to == taken.to
      if isContinued,
        former[device]?.says(taken.to, through: through) ?? false
      {
        continue
      }
      knowledge.prefixes[device] = OraclePrefix(
        through: through, save: taken, sender: range.sender)
      let isReplaced = former[device].map {
        $0.through > through || $0.save.to > taken.to
      }
      if isReplaced ?? false { receipt.parts.replaced = 1 }
    }
  }

  /// Returns the expected content of a part.
  ///
  /// - Parameters:
  ///   - through: The last record of the part, or `nil` if it is the last part.
  ///   - basis: The receiver's clock.
  ///   - own: The devices that this installation saved under.
  func part(
    through: RecordID?, since basis: VectorClock, at receiver: OracleReplica,
    own: Set<DeviceID>
  ) -> OracleDelta? {
    var part = delta(since: basis, at: receiver) ?? OracleDelta()
    // A receiver may refuse the saves of others, and must then get these.
    let first = part.intervals.filter {
      own.contains($0.key) || $0.key.isImport
    }
    if !first.isEmpty { part.intervals = first }
    var (after, end) = (part.goOn(at: receiver), nil as RecordID?)
    if part.intervals.isEmpty {
      (after, end) = sendOn(to: receiver, since: basis, in: &part)
    }
    if !part.intervals.isEmpty {
      part.fields = held.filter { location, _ in
        clock(of: location).entries.contains {
          part.intervals[$0.device] != nil && $0.count > basis[$0.device]
        }
      }
    }
    if after != nil || end != nil || through != nil {
      let range = OracleRange(
        after: after, through: through ?? end, sender: device, end: end)
      part.range = range
      part.fields = part.fields.filter { range.contains($0.key.record) }
    }
    return part.fields.isEmpty && part.intervals.isEmpty ? nil : part
  }

  /// Adds the saves that the receiver lacks of the first prefix whose records
  /// it lacks.
  ///
  /// - Returns: The end of the receiver's prefix of the same saves, and the end
  ///   of this prefix.
  private func sendOn(
    to receiver: OracleReplica, since basis: VectorClock,
    in part: inout OracleDelta
  ) -> (after: RecordID?, end: RecordID?) {
    let news = prefixes.filter { device, prefix in
      guard prefix.save.to > basis[device] else { return false }
      let held = receiver.prefixes[device]
      return held.map {
        ($0.through, $0.save.to) < (prefix.through, prefix.save.to)
      } ?? true
    }
    let first = news.min {
      ($0.value.through, $0.key) < ($1.value.through, $1.key)
    }
    guard let first else { return (nil, nil) }
    func start(_ device: DeviceID) -> RecordID? {
      guard let held = receiver.prefixes[device],
        let own = prefixes[device], own.save.to <= held.save.to
      else { return nil }
      return held.through
    }
    for (device, prefix) in news
    where prefix.through == first.value.through
      && start(device) == start(first.key)
    {
      part.intervals[device] = .init(
        from: basis[device], to: prefix.save.to, time: prefix.save.time)
    }
    return (start(first.key), first.value.through)
  }
}

extension OracleDelta {
  /// Limits the saves to those that continue prefixes of the receiver, if any
  /// do.
  ///
  /// - Returns: The least end of these prefixes.
  fileprivate mutating func goOn(at receiver: OracleReplica) -> RecordID? {
    var after: RecordID?
    var continued: [DeviceID: Interval] = [:]
    for (device, interval) in intervals {
      guard let prefix = receiver.prefixes[device] else { continue }
      let isLess = prefix.save.to <= interval.to
      continued[device] = .init(
        from: interval.from, to: min(prefix.save.to, interval.to),
        time: isLess ? prefix.save.time : interval.time)
      after = min(after ?? prefix.through, prefix.through)
    }
    if after != nil { intervals = continued }
    return after
  }
}

extension OracleReplica {
  /// Checks that the replica contains every effect of the saves in its clock.
  ///
  /// For saves in a prefix, only the effects on the first records are checked.
  ///
  /// - Parameters:
  ///   - saves: The indices of the saves that were made.
  ///   - suspects: The devices that may have two histories.
  ///   - isUndecidable: A closure that returns whether the effect of a save on
  ///     a record is unknown, because its author may have seen either of two
  ///     histories.
  func checkSoundness(
    of saves: some Sequence<Int>, except suspects: Set<DeviceID> = [],
    _ isUndecidable: (RecordID) -> Bool = { _ in false }, named name: String
  ) throws(ScriptMismatch) {
    for index in saves.sorted() {
      let (save, dot) = (history.saves[index], history.saves[index].dot)
      if suspects.contains(dot.device) { continue }
      for location in save.edits.keys
      where clock.contains(dot)
        || prefixes[dot.device]?.says(dot.sequence, through: location.record)
          ?? false
      {
        if held[location]?.contains(index) ?? false
          || isUndecidable(location.record)
        {
          continue
        }
        throw ScriptMismatch("law 8: \(dot) of \(location) is not on \(name)")
      }
    }
  }
}
