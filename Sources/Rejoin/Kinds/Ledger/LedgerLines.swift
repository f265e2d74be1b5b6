// SPDX-License-Identifier: Apache-2.0

/// The store of a ledger: the entries of each device.
public struct LedgerLines: Hashable, Sendable {
  /// The entries by device; each device has at least one.
  public private(set) var lines: [DeviceID: DeviceEntries] = [:]

  /// Creates an empty ledger.
  public init() {}

  init(lines: [DeviceID: DeviceEntries]) {
    self.lines = lines
    _checkInvariants()
  }

  /// The sum of all entries that are not cancelled, computed exactly and then
  /// clamped to `Int64`.
  public var total: Int64 {
    Int64(clamping: lines.values.reduce(0) { $0 + $1.total })
  }

  /// The entries that are not folded, with their devices, ordered by time.
  public var entries: [(device: DeviceID, entry: DeviceEntries.Entry)] {
    lines.flatMap { device, line in line.tail.map { (device, $0) } }
      .sorted { a, b in
        (a.entry.time, a.device, a.entry.sequence) < (
          b.entry.time, b.device, b.entry.sequence
        )
      }
  }

  mutating func append(
    _ amount: Int64, memo: Value?, at dot: Dot, time: Timestamp
  ) {
    let entry = DeviceEntries.Entry(
      sequence: dot.sequence, time: time, amount: amount, memo: memo?.canonical)
    lines[dot.device, default: DeviceEntries()].append(entry)
    _checkInvariants()
  }

  /// The entries of one device alone.
  func line(of device: DeviceID) -> LedgerLines {
    var part = LedgerLines()
    part.lines[device] = lines[device]
    return part
  }

  /// Folds the entries that the saves in `cut` have appended.
  ///
  /// - Returns: The number of entries folded.
  mutating func fold(below cut: VectorClock) -> UInt64 {
    var count: UInt64 = 0
    for (device, line) in lines {
      let target = line.entries(upToSave: cut[device])
      lines[device]?.fold(upTo: target)
      count += (lines[device] ?? line).folded - line.folded
    }
    _checkInvariants()
    return count
  }

  /// Whether ``fold(below:)`` would fold any entry.
  func canFold(below cut: VectorClock) -> Bool {
    lines.contains { device, line in
      line.folded < Limits.foldedEntries
        && line.tail.first.map { $0.sequence <= cut[device] } ?? false
    }
  }

  /// Folds every entry.
  mutating func foldAll() {
    for device in Array(lines.keys) { lines[device]?.fold(upTo: .max) }
  }

  /// Cancels the entries in `observed`, an earlier state of this ledger; `nil`
  /// cancels all.
  mutating func cancel(observed: LedgerLines? = nil) {
    for (device, line) in observed?.lines ?? lines {
      lines[device, default: DeviceEntries()].cancel(line)
    }
    _checkInvariants()
  }
}

extension LedgerLines: DotStore {
  /// Whether there are no entries.
  public var isEmpty: Bool { lines.isEmpty }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    // Folded entries no longer have dots, so that only an empty ledger implies
    // its context.
    lines.isEmpty && clock.isEmpty
  }

  public var dots: VectorClock {
    VectorClock(
      greatest: lines.mapValues { line in
        line.tail.reduce(0) { max($0, $1.sequence) }
      })
  }

  /// Joins device by device.
  ///
  /// The contexts play no part, since entries are never removed.
  public mutating func merge(
    _ other: LedgerLines, seen: some DotSet, otherSeen: some DotSet
  ) {
    merge(other)
  }

  /// Joins device by device.
  ///
  /// - Parameter continued: The devices of which the other ledger lacks the sum
  ///   of what is before its entries, which has to be here.
  mutating func merge(
    _ other: LedgerLines, continued: Set<DeviceID> = []
  ) {
    for (device, line) in other.lines {
      lines[device, default: DeviceEntries()].merge(
        line, isContinuation: continued.contains(device))
    }
    _checkInvariants()
  }
}

extension LedgerLines {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  package func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      for (device, line) in lines {
        precondition(line.count > 0, "no entries of \(device)")
        line._checkInvariants()
      }
    #endif
  }
}
