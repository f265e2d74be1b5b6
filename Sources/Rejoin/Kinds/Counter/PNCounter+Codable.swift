// SPDX-License-Identifier: Apache-2.0

extension PNCounter: Codable {
  private enum CodingKeys: CodingKey { case entries, cancelled }

  /// Encodes the sums of each device, sorted, and the cancelled ones.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entries, forKey: .entries)
    if !cancelled.isEmpty {
      try container.encode(cancelled, forKey: .cancelled)
    }
  }

  /// Decodes the sums of each device.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let entries = try container.decode([Entry].self, forKey: .entries)
    let cancelled =
      try container.decodeIfPresent([Entry].self, forKey: .cancelled)
      ?? []
    for list in [entries, cancelled] {
      guard zip(list, list.dropFirst()).allSatisfy({ $0.device < $1.device })
      else { throw decoder.corrupted("expected each device once, sorted") }
      guard list.allSatisfy({ $0.sequence > 0 }) else {
        throw decoder.corrupted("expected sequence numbers above zero")
      }
    }
    self.init(entries: entries, cancelled: cancelled)
    // Merging what is cancelled changes a counter only if that exceeds the
    // entries.
    guard self == merging(cancelledOnly) else {
      throw decoder.corrupted("expected cancelled sums within the entries")
    }
  }
}

extension PNCounter {
  /// The counter as if nothing but the cancelled changes had been made.
  fileprivate var cancelledOnly: PNCounter {
    PNCounter(entries: cancelled, cancelled: cancelled)
  }
}
