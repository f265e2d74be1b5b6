// SPDX-License-Identifier: Apache-2.0

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
