// SPDX-License-Identifier: Apache-2.0

/// A device's line of a ledger as it is encoded.
private struct CodedLine: Codable {
  struct Entry: Codable {
    let sequence: UInt64
    let time: Timestamp
    let amount: Int64
    let memo: Value?
  }

  struct Sum: Codable {
    let count: UInt64
    /// A number of 128 bits, in decimal digits.
    let sum: String

    var value: Int128? {
      guard count > 0, count <= Limits.foldedEntries,
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
  /// Encodes every device's line, in order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for (device, line) in store.lines.sorted(by: { $0.key < $1.key }) {
      try container.encode(CodedLine(line, of: device))
    }
  }

  /// Decodes every device's line.
  public init(from decoder: any Decoder) throws {
    let coded = try [CodedLine](from: decoder)
    guard zip(coded, coded.dropFirst()).allSatisfy({ $0.device < $1.device })
    else { throw decoder.corrupted("each device once, in order") }
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
    else { throw decoder.corrupted("sums of entries that can be") }
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
