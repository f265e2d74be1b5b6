// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change of a counter or a ledger.
struct CodedSums: Codable {
  /// The opposite of an amount that the save added.
  private struct Amount: Codable {
    let amount: Int64
    let memo: Value?
  }

  /// The number of the device's change, or of its first entry in a ledger.
  private let first: UInt64
  private let amounts: [Amount]
  private let cancelled: [CodedCancellation]

  init(
    _ amounts: [LedgerEdit.Entry], from first: UInt64,
    _ cancelled: [CodedCancellation]
  ) {
    (self.first, self.cancelled) = (first, cancelled)
    self.amounts = amounts.map { Amount(amount: $0.amount, memo: $0.memo) }
  }

  func change(
    by save: UndoStep.Point, _ decoder: any Decoder
  ) throws -> UndoStep.Change {
    guard first > 0 else {
      throw decoder.corrupted("Changes must be numbered from one.")
    }
    let sums = try cancelled.sums(decoder)
    guard sums.values.isSummable else {
      throw decoder.corrupted("Sums must have at most 127 bits in total.")
    }
    func clock(_ number: KeyPath<CodedCancellation, UInt64>) -> VectorClock {
      VectorClock(
        greatest: cancelled.reduce(into: [:]) {
          $0[$1.device] = $1[keyPath: number]
        })
    }
    let own = amounts.map { LedgerEdit.Entry(amount: $0.amount, memo: $0.memo) }
    return UndoStep.Change(
      save: save, position: first, before: .sums(own, cancelled: sums),
      superseded: .sums(cancelled: clock(\.before), all: clock(\.after)),
      cancelled: clock(\.latest))
  }
}

/// The encoded form of the cancelled changes of one device.
struct CodedCancellation: Codable {
  fileprivate let device: DeviceID
  /// The number of changes that were cancelled before the save.
  fileprivate let before: UInt64
  /// The number of changes that were cancelled after the save.
  fileprivate let after: UInt64
  /// The number of changes that are cancelled after the save and all later
  /// saves that were undone.
  fileprivate let latest: UInt64
  /// The sum that the save cancelled, in decimal digits, or `nil` if it did not
  /// cancel any changes.
  fileprivate let sum: String?

  /// The sum, or `nil` if the numbers are inconsistent.
  fileprivate var value: WideInt?? {
    guard after > 0, before <= after, after <= latest else { return nil }
    guard let sum else { return before == after ? .some(nil) : nil }
    // In a forked history, the sum can change while the number stays the same.
    guard let value = WideInt(digits: sum), before < after || value != 0
    else { return nil }
    return value
  }
}

extension [CodedCancellation] {
  /// Returns the cancelled changes of a save, sorted by device.
  static func cancelled(
    _ sums: [DeviceID: WideInt], _ change: UndoStep.Change
  ) -> Self {
    guard case .sums(let before, let all) = change.superseded else { return [] }
    return all.entries.map { entry in
      CodedCancellation(
        device: entry.device, before: before[entry.device], after: entry.count,
        latest: change.cancelled[entry.device],
        sum: sums[entry.device].map { "\($0)" })
    }
  }

  /// Returns the sums that the save cancelled, by device.
  fileprivate func sums(_ decoder: any Decoder) throws -> [DeviceID: WideInt] {
    guard zip(self, dropFirst()).allSatisfy({ $0.device < $1.device }) else {
      throw decoder.corrupted("Devices must be sorted, one entry for each.")
    }
    var sums: [DeviceID: WideInt] = [:]
    for part in self {
      guard let sum = part.value else {
        throw decoder.corrupted(
          "The numbers of cancelled changes must not decrease from \"before\" "
            + "to \"after\" to \"latest\", and \"sum\" must be an integer, "
            + "which is missing only if no more changes were cancelled.")
      }
      sums[part.device] = sum
    }
    return sums
  }
}
