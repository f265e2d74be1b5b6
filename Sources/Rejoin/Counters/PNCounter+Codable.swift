// SPDX-License-Identifier: Apache-2.0

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
      guard list.allSatisfy({ $0.sequence > 0 }) else {
        throw decoder.corrupted("changes count from one")
      }
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
