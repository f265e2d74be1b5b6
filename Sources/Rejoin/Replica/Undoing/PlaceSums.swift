// SPDX-License-Identifier: Apache-2.0

extension LedgerLines {
  /// What a save has done here.
  func change(
    to after: LedgerLines, by save: SaveUndo.Point
  ) -> SaveUndo.Change? {
    if self == after { return nil }
    let device = save.dot.device
    let count = lines[device]?.count ?? 0
    let own = after.lines[device] ?? DeviceEntries()
    var opposite: [LedgerEdit.Entry] = []
    for entry in own.tail.suffix(Int(own.count - count)) {
      opposite.append(-Int128(entry.amount), memo: entry.memo)
    }
    let cancelled = after.lines.compactMapValues(\.cancelledPart)
    let before = lines.compactMapValues(\.cancelledPart)
    let all = VectorClock(greatest: cancelled.mapValues(\.count))
    return SaveUndo.Change(
      save: save, line: count + 1,
      before: .entries(
        opposite, cancelled: cancelled.newSums(since: before)),
      superseded: .sums(
        cancelled: VectorClock(greatest: before.mapValues(\.count)),
        all: all), cancelled: all)
  }
}

extension DeviceEntries {
  /// How many entries are cancelled, and their sum.
  fileprivate var cancelledPart: (count: UInt64, sum: Int128)? {
    cancelled > 0 ? (cancelled, cancelledSum) : nil
  }
}

extension Tally {
  /// What a save has done here.
  func change(
    to after: Tally, by save: SaveUndo.Point
  ) -> SaveUndo.Change? {
    if self == after { return nil }
    let device = save.dot.device
    let (before, cancelled) = (self.cancelled.parts, after.cancelled.parts)
    let all = VectorClock(greatest: cancelled.mapValues(\.count))
    return SaveUndo.Change(
      save: save,
      before: .amount(
        entry(of: device).sum - after.entry(of: device).sum,
        cancelled: cancelled.newSums(since: before)),
      superseded: .sums(
        cancelled: VectorClock(greatest: before.mapValues(\.count)),
        all: all), cancelled: all)
  }
}

extension Tally.Entry {
  fileprivate var sum: Int128 { Int128(increments) - Int128(decrements) }
}

extension [Tally.Entry] {
  /// The last change of each device, and the sum up to it.
  fileprivate var parts: [DeviceID: (count: UInt64, sum: Int128)] {
    reduce(into: [:]) { $0[$1.device] = ($1.sequence, $1.sum) }
  }
}

extension [DeviceID: (count: UInt64, sum: Int128)] {
  /// What has been cancelled of each device since.
  fileprivate func newSums(
    since before: [DeviceID: (count: UInt64, sum: Int128)]
  ) -> [DeviceID: Int128] {
    var sums: [DeviceID: Int128] = [:]
    for (device, part) in self {
      let old = before[device] ?? (0, 0)
      if part != old { sums[device] = part.sum - old.sum }
    }
    return sums
  }
}

extension [LedgerEdit.Entry] {
  /// Appends an amount, in as many entries as it takes.
  ///
  /// Zero takes one, too: earlier entries are looked for where it is.
  mutating func append(_ amount: Int128, memo: Value?) {
    var rest = amount
    repeat {
      let part = Int64(clamping: rest)
      append(LedgerEdit.Entry(amount: part, memo: memo))
      rest -= Int128(part)
    } while rest != 0
  }
}
