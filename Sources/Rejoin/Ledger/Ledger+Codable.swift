// SPDX-License-Identifier: Apache-2.0

/// A device's line of a ledger as it is encoded.
private struct CodedLine: Codable {
  struct Sum: Codable {
    let count: UInt64
    /// A number of 128 bits, in decimal digits.
    let sum: String

    var value: (UInt64, Int128)? {
      guard let value = Int128(sum), "\(value)" == sum,
        DeviceEntries.isSum(value, of: count)
      else { return nil }
      return (count, value)
    }
  }

  let device: DeviceID
  let folded: Sum?
  let cancelled: Sum?
  let entries: [DeviceEntries.Entry]
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
    entries = line.tail
  }

  func line(_ decoder: any Decoder) throws -> DeviceEntries {
    guard let folded = folded.map(\.value) ?? (0, 0),
      let cancelled = cancelled.map(\.value) ?? (0, 0),
      cancelled <= folded, folded.0 > 0 || !entries.isEmpty
    else { throw decoder.corrupted("sums of entries that can be") }
    return DeviceEntries(
      folded: folded.0, sum: folded.1, cancelled: cancelled.0,
      cancelledSum: cancelled.1, tail: entries)
  }
}
