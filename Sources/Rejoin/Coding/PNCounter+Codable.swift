// SPDX-License-Identifier: Apache-2.0

extension Tally.Entry: Codable {
  private enum CodingKeys: CodingKey {
    case device, sequence, increments, decrements
  }

  /// Encodes the device, the sequence number of its last change, and its sums.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(device, forKey: .device)
    try container.encode(sequence, forKey: .sequence)
    try container.encode(increments, forKey: .increments)
    try container.encode(decrements, forKey: .decrements)
  }

  /// Decodes the sums of a device.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      device: try container.decode(DeviceID.self, forKey: .device),
      sequence: try container.decode(UInt64.self, forKey: .sequence),
      increments: try container.decode(UInt64.self, forKey: .increments),
      decrements: try container.decode(UInt64.self, forKey: .decrements))
    guard sequence > 0 else {
      throw decoder.corrupted("expected a sequence number above zero")
    }
  }
}

extension PNCounter: Codable {
  private enum CodingKeys: CodingKey { case entries, cancelled }

  /// Encodes the sums of each device, sorted, and the cancelled ones.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tally.entries, forKey: .entries)
    if !tally.cancelled.isEmpty {
      try container.encode(tally.cancelled, forKey: .cancelled)
    }
  }

  /// Decodes the sums of each device.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let entries = try container.decode([Tally.Entry].self, forKey: .entries)
    let cancelled =
      try container.decodeIfPresent([Tally.Entry].self, forKey: .cancelled)
      ?? []
    for list in [entries, cancelled] {
      guard zip(list, list.dropFirst()).allSatisfy({ $0.device < $1.device })
      else { throw decoder.corrupted("expected each device once, sorted") }
    }
    let tally = Tally(entries: entries, cancelled: cancelled)
    // Merging what is cancelled changes a tally only if that exceeds the
    // entries.
    guard tally == tally.merging(tally.cancelledOnly) else {
      throw decoder.corrupted("expected cancelled sums within the entries")
    }
    self.init(tally: tally)
  }
}

extension Tally {
  /// The tally as if nothing but the cancelled changes had been made.
  fileprivate var cancelledOnly: Tally {
    Tally(entries: cancelled, cancelled: cancelled)
  }
}
