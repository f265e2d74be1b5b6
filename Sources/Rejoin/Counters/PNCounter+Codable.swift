// SPDX-License-Identifier: Apache-2.0

extension Tally.Entry: Codable {
  private enum CodingKeys: CodingKey {
    case device, sequence, increments, decrements
  }

  /// Encodes the device, the number of its last change, and its sums.
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
      throw decoder.corrupted("changes count from one")
    }
  }
}

extension PNCounter: Codable {
  private enum CodingKeys: CodingKey { case entries, cancelled }

  /// Encodes the sums of every device, in order, and what resets have cancelled.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tally.entries, forKey: .entries)
    if !tally.cancelled.isEmpty {
      try container.encode(tally.cancelled, forKey: .cancelled)
    }
  }

  /// Decodes the sums of every device.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let entries = try container.decode([Tally.Entry].self, forKey: .entries)
    let cancelled =
      try container.decodeIfPresent([Tally.Entry].self, forKey: .cancelled)
      ?? []
    for list in [entries, cancelled] {
      guard zip(list, list.dropFirst()).allSatisfy({ $0.device < $1.device })
      else { throw decoder.corrupted("each device once, in order") }
    }
    let tally = Tally(entries: entries, cancelled: cancelled)
    guard tally == tally.merging(tally.cancelledOnly) else {
      throw decoder.corrupted("no more is cancelled than there is")
    }
    self.init(tally: tally)
  }
}

extension Tally {
  /// The part that resets have cancelled, as if nothing had come after.
  fileprivate var cancelledOnly: Tally {
    Tally(entries: cancelled, cancelled: cancelled)
  }
}
