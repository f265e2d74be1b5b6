// SPDX-License-Identifier: Apache-2.0

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
      guard list.allSatisfy({ $0.sequence > 0 }) else {
        throw decoder.corrupted("expected sequence numbers above zero")
      }
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
