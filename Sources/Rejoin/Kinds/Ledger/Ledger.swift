// SPDX-License-Identifier: Apache-2.0

/// An append-only list of amounts that can fold its oldest entries into a sum.
///
///     var cash = Ledger()
///     cash.append(100, memo: .string("float"), on: phone, at: time)
///     cash.append(-30, on: phone, at: time)
///     cash.total               // 70
///     cash.fold(upTo: [phone: 1])
///     cash.total               // 70: a fold changes no total
///
/// Any replica may fold any prefix of a device's entries. No entry is ever
/// counted twice. Folding drops the memos of the entries. To undo an entry,
/// append its reversal.
public struct Ledger: Hashable, Sendable {
  /// The entries of each device.
  ///
  /// Every device in the dictionary has at least one entry.
  package private(set) var lines: [DeviceID: DeviceEntries] = [:]

  /// Creates an empty ledger.
  public init() {}

  package init(lines: [DeviceID: DeviceEntries]) {
    self.lines = lines
    _checkInvariants()
  }

  /// The sum of all entries that are not canceled, computed exactly and then
  /// clamped to `Int64`.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries that are not
  ///   folded.
  public var total: Int64 {
    Int64(clamping: lines.values.reduce(0) { $0 + $1.total })
  }

  /// The entries that are not folded, sorted by time.
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
  /// - Returns: The delta to merge into other copies: all entries of the
  ///   device.
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
  /// Fold only entries that every replica has. A replica that receives an entry
  /// in folded form never gets its memo.
  ///
  /// - Parameter counts: The number of entries to fold, by device.
  /// - Returns: The number of folded entries.
  @discardableResult
  public mutating func fold(upTo counts: VectorClock) -> UInt64 {
    fold(below: counts)
  }
}

/// An entry of a ledger and the save that appended it.
public struct LedgerEntry: Hashable, Sendable {
  /// The save that appended the entry.
  public let dot: Dot
  /// The timestamp of the save.
  public let time: Timestamp
  /// The amount, negative for a reversal.
  public let amount: Int64
  /// The purpose of the amount.
  public let memo: Value?

  init(_ entry: DeviceEntries.Entry, by device: DeviceID) {
    dot = Dot(device, entry.sequence)
    (time, amount, memo) = (entry.time, entry.amount, entry.memo)
  }
}

// Changes that a save applies to the ledger of a record.
extension Ledger {
  package mutating func append(
    _ amount: Int64, memo: Value?, at dot: Dot, time: Timestamp
  ) {
    let entry = DeviceEntries.Entry(
      sequence: dot.sequence, time: time, amount: amount, memo: memo?.canonical)
    lines[dot.device, default: DeviceEntries()].append(entry)
    _checkInvariants()
  }

  /// Folds the entries that the saves in `cut` appended.
  ///
  /// - Returns: The number of folded entries.
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

  /// The number of folded entries of all devices.
  var foldedEntries: UInt64 {
    lines.values.reduce(0) { $0 &+ $1.folded }
  }

  /// Returns whether ``fold(below:)`` would fold any entry.
  package func canFold(below cut: VectorClock) -> Bool {
    lines.contains { device, line in
      line.folded < Limits.foldedEntries
        && line.tail.first.map { $0.sequence <= cut[device] } ?? false
    }
  }

  /// The decisions how many entries of devices are canceled.
  var decisions: [DeviceID: Cancellation] {
    lines.mapValues(\.cancellation).filter { $0.value != Cancellation() }
  }

  /// Cancels the entries in `observed`, an earlier state of this ledger, or all
  /// entries if it is `nil`.
  package mutating func cancel(observed: Ledger? = nil) {
    for (device, line) in observed?.lines ?? lines {
      lines[device, default: DeviceEntries()].cancel(line)
    }
    _checkInvariants()
  }

  /// Turns the decisions how many entries of some devices are canceled.
  mutating func turn(_ turns: [DeviceID: Cancellation]) {
    for (device, decision) in turns { lines[device]?.turn(decision) }
    _checkInvariants()
  }
}

extension Ledger: Lattice {
  /// Joins the entries of each device.
  public mutating func merge(_ other: Ledger) { merge(other, continued: []) }

  /// Joins the entries of each device.
  ///
  /// - Parameter continued: The devices whose earlier entries the other ledger
  ///   omits, together with their sum. This ledger must contain them.
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

/// The encoded form of a device's entries in a ledger.
private struct CodedLine: Codable {
  struct Sum: Codable {
    let count: UInt64
    /// A 128-bit integer in decimal digits.
    let sum: String

    var value: (UInt64, WideInt)? {
      guard let value = WideInt(digits: sum),
        DeviceEntries.isSum(value, of: count)
      else { return nil }
      return (count, value)
    }
  }

  let device: DeviceID
  let folded: Sum?
  let cancellation: Cancellation?
  let entries: [DeviceEntries.Entry]
}

extension Ledger: Codable {
  /// Encodes the entries of each device, sorted by device.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for (device, line) in lines.sorted(by: { $0.key < $1.key }) {
      try container.encode(CodedLine(line, of: device))
    }
  }

  /// Decodes the entries of each device.
  public init(from decoder: any Decoder) throws {
    let coded = try [CodedLine](from: decoder)
    guard zip(coded, coded.dropFirst()).allSatisfy({ $0.device < $1.device })
    else { throw decoder.corrupted("expected each device once, sorted") }
    var lines: [DeviceID: DeviceEntries] = [:]
    for line in coded { lines[line.device] = try line.line(decoder) }
    self.init(lines: lines)
  }
}

extension CodedLine {
  init(_ line: DeviceEntries, of device: DeviceID) {
    self.device = device
    folded =
      line.folded > 0
      ? Sum(count: line.folded, sum: "\(line.foldedSum)") : nil
    cancellation =
      line.cancellation == Cancellation() ? nil : line.cancellation
    entries = line.tail
  }

  func line(_ decoder: any Decoder) throws -> DeviceEntries {
    let decision = cancellation ?? Cancellation()
    guard let folded = folded.map(\.value) ?? (0, 0),
      decision.decided <= folded.0,
      decision.canceled == 0
        || DeviceEntries.isSum(decision.sum, of: decision.canceled),
      folded.0 > 0 || !entries.isEmpty
    else {
      throw decoder.corrupted(
        "expected entries or a folded sum, decisions only on folded entries, "
          + "and sums within the range of so many amounts")
    }
    return DeviceEntries(
      folded: folded.0, sum: folded.1, cancellation: decision, tail: entries)
  }
}
