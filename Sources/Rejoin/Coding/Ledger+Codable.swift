// SPDX-License-Identifier: Apache-2.0

/// A device's entries in a ledger, as they are encoded.
private struct CodedLine: Codable {
  struct Entry: Codable {
    let sequence: UInt64
    let time: Timestamp
    let amount: Int64
    let memo: Value?
  }

  struct Sum: Codable {
    let count: UInt64
    /// An integer of 128 bits, in decimal digits.
    let sum: String

    var value: Int128? {
      // `Int128(_:)` also accepts signs and leading zeros. A sum of amounts of
      // 64 bits is within their number times 2⁶³.
      guard count > 0, count <= WireLimit.foldedEntries,
        let value = Int128(sum), "\(value)" == sum,
        value.magnitude <= UInt128(count) << 63
      else { return nil }
      return value
    }
  }

  let device: DeviceID
  let folded: Sum?
  let cancelled: Sum?
  let entries: [Entry]
}

extension Ledger: Codable {
  /// Encodes the entries of each device, sorted by device.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for (device, line) in store.lines.sorted(by: { $0.key < $1.key }) {
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
    self.init(store: LedgerLines(lines: lines))
  }
}

extension CodedLine {
  init(_ line: DeviceEntries, of device: DeviceID) {
    func sum(_ count: UInt64, _ sum: Int128) -> Sum? {
      count > 0 ? Sum(count: count, sum: "\(sum)") : nil
    }
    self.device = device
    folded = sum(line.folded, line.foldedSum)
    cancelled = sum(line.cancelled, line.cancelledSum)
    entries = line.tail.map {
      Entry(
        sequence: $0.sequence, time: $0.time, amount: $0.amount, memo: $0.memo)
    }
  }

  func line(_ decoder: any Decoder) throws -> DeviceEntries {
    let sums = [folded, cancelled].map { $0.map(\.value) ?? .some(0) }
    guard let foldedSum = sums[0], let cancelledSum = sums[1],
      cancelled?.count ?? 0 <= folded?.count ?? 0,
      folded != nil || !entries.isEmpty
    else {
      throw decoder.corrupted(
        "expected entries or a folded sum, no more cancelled entries than "
          + "folded ones, and sums within the range of so many amounts")
    }
    return DeviceEntries(
      folded: folded?.count ?? 0, sum: foldedSum,
      cancelled: cancelled?.count ?? 0, cancelledSum: cancelledSum,
      tail: entries.map {
        DeviceEntries.Entry(
          sequence: $0.sequence, time: $0.time, amount: $0.amount, memo: $0.memo
        )
      })
  }
}
