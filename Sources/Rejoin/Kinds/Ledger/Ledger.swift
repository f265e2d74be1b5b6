// SPDX-License-Identifier: Apache-2.0

/// An append-only list of amounts, the oldest of which can be folded into a
/// sum.
///
///     var cash = Ledger()
///     cash.append(100, memo: .string("float"), on: phone, at: time)
///     cash.append(-30, on: phone, at: time)
///     cash.total               // 70
///     cash.fold(upTo: [phone: 1])
///     cash.total               // 70: a fold changes no total
///
/// Any replica may fold any prefix of a device's entries; no entry is ever
/// counted twice. The memos of folded entries are lost. To undo an entry,
/// append its reversal.
public struct Ledger: Hashable, Sendable {
  /// The entries by device; each device has at least one.
  package private(set) var lines: [DeviceID: DeviceEntries] = [:]

  /// Creates an empty ledger.
  public init() {}

  package init(lines: [DeviceID: DeviceEntries]) {
    self.lines = lines
    _checkInvariants()
  }

  /// The sum of all entries that are not cancelled, computed exactly and then
  /// clamped to `Int64`.
  ///
  /// - Complexity: O(*n*) for *n* entries that are not folded.
  public var total: Int64 {
    Int64(clamping: lines.values.reduce(0) { $0 + $1.total })
  }

  /// The entries that are not folded, ordered by time.
  public var entries: [LedgerEntry] {
    lines.flatMap { device, line in
      line.tail.map { LedgerEntry($0, by: device) }
    }.sorted { ($0.time, $0.dot) < ($1.time, $1.dot) }
  }

  /// The number of entries of each device.
  public var counts: VectorClock {
    VectorClock(greatest: lines.mapValues(\.count))
  }

  /// Appends an entry.
  ///
  /// - Returns: The delta to merge elsewhere: all entries of the device.
  @discardableResult
  public mutating func append(
    _ amount: Int64, memo: Value? = nil, on device: DeviceID,
    at time: Timestamp
  ) -> Ledger {
    let n = (lines[device]?.count ?? 0) + 1
    append(amount, memo: memo, at: Dot(device, n), time: time)
    return Ledger(lines: [device: lines[device] ?? DeviceEntries()])
  }

  /// Folds the first entries of each device into a sum.
  ///
  /// Fold only what every replica holds: one that receives an entry in folded
  /// form never gets its memo.
  ///
  /// - Parameter counts: How many entries of each device to fold.
  /// - Returns: The number of entries folded.
  @discardableResult
  public mutating func fold(upTo counts: VectorClock) -> UInt64 {
    fold(below: counts)
  }
}

/// An entry of a ledger, with the save that appended it.
public struct LedgerEntry: Hashable, Sendable {
  /// The save that appended the entry.
  public let dot: Dot
  /// When it was appended.
  public let time: Timestamp
  /// The amount, negative for a reversal.
  public let amount: Int64
  /// What it was for.
  public let memo: Value?

  init(_ entry: DeviceEntries.Entry, by device: DeviceID) {
    dot = Dot(device, entry.sequence)
    (time, amount, memo) = (entry.time, entry.amount, entry.memo)
  }
}

// What a save does to the ledger of a record.
extension Ledger {
  package mutating func append(
    _ amount: Int64, memo: Value?, at dot: Dot, time: Timestamp
  ) {
    let entry = DeviceEntries.Entry(
      sequence: dot.sequence, time: time, amount: amount, memo: memo?.canonical)
    lines[dot.device, default: DeviceEntries()].append(entry)
    _checkInvariants()
  }

  /// Folds the entries that the saves in `cut` have appended.
  ///
  /// - Returns: The number of entries folded.
  package mutating func fold(below cut: VectorClock) -> UInt64 {
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
  package func canFold(below cut: VectorClock) -> Bool {
    lines.contains { device, line in
      line.folded < Limits.foldedEntries
        && line.tail.first.map { $0.sequence <= cut[device] } ?? false
    }
  }

  /// Folds every entry.
  package mutating func foldAll() {
    for device in Array(lines.keys) { lines[device]?.fold(upTo: .max) }
  }

  /// Cancels the entries in `observed`, an earlier state of this ledger; `nil`
  /// cancels all.
  package mutating func cancel(observed: Ledger? = nil) {
    for (device, line) in observed?.lines ?? lines {
      lines[device, default: DeviceEntries()].cancel(line)
    }
    _checkInvariants()
  }
}

extension Ledger: Lattice {
  /// Joins device by device.
  public mutating func merge(_ other: Ledger) { merge(other, continued: []) }

  /// Joins device by device.
  ///
  /// - Parameter continued: The devices of which the other ledger lacks the sum
  ///   of what is before its entries, which has to be here.
  mutating func merge(
    _ other: Ledger, continued: Set<DeviceID>
  ) {
    for (device, line) in other.lines {
      lines[device, default: DeviceEntries()].merge(
        line, isContinuation: continued.contains(device))
    }
    _checkInvariants()
  }
}

extension Ledger {
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
