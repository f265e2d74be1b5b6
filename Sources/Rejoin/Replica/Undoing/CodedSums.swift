// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change of a counter.
struct CodedAmount: Codable {
  /// The opposite of the sum that the save added, in decimal digits.
  private let amount: String
  private let cancelled: [CodedCancellation]

  init(_ amount: Int128, _ cancelled: [CodedCancellation]) {
    (self.amount, self.cancelled) = ("\(amount)", cancelled)
  }

  func change(
    by save: SaveUndo.Point, _ decoder: any Decoder
  ) throws -> SaveUndo.Change {
    guard let own = Int128(digits: amount), own.magnitude <= UInt64.max else {
      throw decoder.corrupted(
        "The amount of a counter must be in decimal digits, and at most "
          + "\(UInt64.max) in magnitude.")
    }
    let sums = try cancelled.sums(decoder) { part in
      // In a forked history, the sums before and after can have opposite signs.
      UInt128(UInt64.max) * (part.before > 0 ? 2 : 1)
    }
    guard (sums.values + [own]).isSummable else {
      throw decoder.corrupted("Sums must have at most 127 bits in total.")
    }
    return cancelled.change(
      by: save, line: 0, before: .amount(own, cancelled: sums))
  }
}

/// The encoded form of a change of a ledger.
struct CodedEntries: Codable {
  /// The opposite of an entry that the save appended.
  private struct Entry: Codable {
    let amount: Int64
    let memo: Value?
  }

  /// The number of the first entry among those of its device.
  private let line: UInt64
  private let entries: [Entry]
  private let cancelled: [CodedCancellation]

  init(
    _ entries: [LedgerEdit.Entry], from line: UInt64,
    _ cancelled: [CodedCancellation]
  ) {
    self.line = line
    self.entries = entries.map { Entry(amount: $0.amount, memo: $0.memo) }
    self.cancelled = cancelled
  }

  func change(
    by save: SaveUndo.Point, _ decoder: any Decoder
  ) throws -> SaveUndo.Change {
    guard line > 0 else {
      throw decoder.corrupted("Entries must be numbered from one.")
    }
    guard cancelled.allSatisfy({ $0.latest <= Limits.foldedEntries }) else {
      throw decoder.corrupted(
        "A ledger must have at most \(Limits.foldedEntries) cancelled entries "
          + "of a device.")
    }
    let sums = try cancelled.sums(decoder) { part in
      // In a forked history, the sums before and after can have opposite signs.
      UInt128(part.before + part.after) << 63
    }
    guard !entries.isEmpty || !sums.isEmpty, sums.values.isSummable else {
      throw decoder.corrupted(
        "A change of a ledger must have entries or sums, and the sums must have "
          + "at most 127 bits in total.")
    }
    let own = entries.map { LedgerEdit.Entry(amount: $0.amount, memo: $0.memo) }
    return cancelled.change(
      by: save, line: line, before: .entries(own, cancelled: sums))
  }
}

/// The encoded form of the cancelled changes of one device.
struct CodedCancellation: Codable {
  fileprivate let device: DeviceID
  /// How many were cancelled before the save.
  fileprivate let before: UInt64
  /// How many were cancelled after the save.
  fileprivate let after: UInt64
  /// How many were cancelled after the save and those undone since.
  fileprivate let latest: UInt64
  /// The sum that the save cancelled, in decimal digits, or `nil` if it cancelled
  /// none.
  fileprivate let sum: String?

  /// The sum, or `nil` if these numbers do not allow it.
  ///
  /// - Parameter bound: The greatest magnitude of the sum.
  fileprivate func value(
    upTo bound: (CodedCancellation) -> UInt128
  ) -> Int128?? {
    guard after > 0, before <= after, after <= latest else { return nil }
    guard let sum else { return before == after ? .some(nil) : nil }
    // In a forked history, the sum can differ although the number stays.
    guard let value = Int128(digits: sum), value.magnitude <= bound(self),
      before < after || value != 0
    else { return nil }
    return value
  }
}

extension [CodedCancellation] {
  /// The cancelled changes of a save, sorted by device.
  static func cancelled(
    _ sums: [DeviceID: Int128], _ change: SaveUndo.Change
  ) -> Self {
    guard case .sums(let before, let all) = change.superseded else { return [] }
    return all.entries.map { entry in
      CodedCancellation(
        device: entry.device, before: before[entry.device], after: entry.count,
        latest: change.cancelled[entry.device],
        sum: sums[entry.device].map { "\($0)" })
    }
  }

  /// The sums that the save cancelled.
  fileprivate func sums(
    _ decoder: any Decoder, upTo bound: (CodedCancellation) -> UInt128
  ) throws -> [DeviceID: Int128] {
    guard zip(self, dropFirst()).allSatisfy({ $0.device < $1.device }) else {
      throw decoder.corrupted("Devices must be sorted, one entry for each.")
    }
    var sums: [DeviceID: Int128] = [:]
    for part in self {
      guard let sum = part.value(upTo: bound) else {
        throw decoder.corrupted(
          "The numbers of cancelled changes must not decrease from \"before\" "
            + "to \"after\" to \"latest\", and \"sum\" must be the sum of so "
            + "many.")
      }
      sums[part.device] = sum
    }
    return sums
  }

  fileprivate func change(
    by save: SaveUndo.Point, line: UInt64, before: SaveUndo.Before
  ) -> SaveUndo.Change {
    func clock(_ number: KeyPath<CodedCancellation, UInt64>) -> VectorClock {
      VectorClock(
        greatest: reduce(into: [:]) { $0[$1.device] = $1[keyPath: number] })
    }
    return SaveUndo.Change(
      save: save, line: line, before: before,
      superseded: .sums(cancelled: clock(\.before), all: clock(\.after)),
      cancelled: clock(\.latest))
  }
}
