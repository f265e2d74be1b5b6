// SPDX-License-Identifier: Apache-2.0

extension PNCounter: Codable {
  private enum CodingKeys: CodingKey { case entries, cancelled }

  /// Encodes the sums of each device, sorted by device, and the cancelled sums.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entries, forKey: .entries)
    if !cancelled.isEmpty {
      try container.encode(cancelled, forKey: .cancelled)
    }
  }

  /// Decodes the sums of each device and the cancelled sums.
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
    // If a cancelled sum is within the entry of its device, merging it changes
    // nothing.
    guard self == merging(cancelledOnly) else {
      throw decoder.corrupted("expected cancelled sums within the entries")
    }
  }
}

extension PNCounter {
  /// A counter with only the cancelled changes.
  fileprivate var cancelledOnly: PNCounter {
    PNCounter(entries: cancelled, cancelled: cancelled)
  }
}
