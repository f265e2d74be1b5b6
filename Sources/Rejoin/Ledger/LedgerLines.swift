// SPDX-License-Identifier: Apache-2.0

/// The store of a ledger: a line of entries for each device.
public struct LedgerLines: Hashable, Sendable {
  /// The lines by device.
  public private(set) var lines: [DeviceID: DeviceEntries] = [:]

  /// Creates a ledger without entries.
  public init() {}

  init(lines: [DeviceID: DeviceEntries]) { self.lines = lines }

  /// The sum of all entries that are not cancelled, computed exactly and then
  /// clamped to `Int64`.
  public var total: Int64 {
    Int64(clamping: lines.values.reduce(0) { $0 + $1.total })
  }

  /// Every entry that is not folded, with its device, in the order of time.
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
  }

  /// The ledger that holds just one device's line.
  func line(of device: DeviceID) -> LedgerLines {
    var part = LedgerLines()
    part.lines[device] = lines[device]
    return part
  }

  /// Folds the entries whose saves are in `cut`.
  ///
  /// - Returns: The number of entries folded.
  mutating func fold(below cut: VectorClock) -> UInt64 {
    var count: UInt64 = 0
    for (device, line) in lines {
      let target = line.entries(upToSave: cut[device])
      lines[device]?.fold(upTo: target)
      count += (lines[device] ?? line).folded - line.folded
    }
    return count
  }

  /// Folds every entry.
  mutating func foldAll() {
    for device in Array(lines.keys) { lines[device]?.fold(upTo: .max) }
  }

  /// Cancels the entries in `observed`, an earlier state of this ledger, or every
  /// entry there is.
  mutating func cancel(observed: LedgerLines? = nil) {
    for (device, line) in observed?.lines ?? lines {
      lines[device, default: DeviceEntries()].cancel(line)
    }
  }

  /// Whether there is an entry that has not been cancelled.
  var hasUncancelled: Bool {
    lines.values.contains {
      $0.cancelled < min($0.count, Limits.foldedEntries)
    }
  }
}

extension LedgerLines: DotStore {
  /// Whether there are no entries.
  public var isEmpty: Bool { lines.isEmpty }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    lines.isEmpty && clock.isEmpty
  }

  public var dots: VectorClock {
    VectorClock(
      greatest: lines.mapValues { line in
        line.tail.reduce(0) { max($0, $1.sequence) }
      })
  }

  /// Joins device by device; what either side has seen does not matter.
  public mutating func merge(
    _ other: LedgerLines, seen: some DotSet, otherSeen: some DotSet
  ) {
    for (device, line) in other.lines {
      lines[device, default: DeviceEntries()].merge(line)
    }
  }
}
