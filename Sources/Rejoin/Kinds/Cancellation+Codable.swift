// SPDX-License-Identifier: Apache-2.0

extension Cancellation: Codable {
  private enum CodingKeys: CodingKey { case decided, turns, canceled, sum }

  /// Encodes the decision.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(decided, forKey: .decided)
    try container.encode(turns, forKey: .turns)
    try container.encode(canceled, forKey: .canceled)
    // In decimal digits, because JSON has no integers of 128 bits.
    try container.encode("\(sum)", forKey: .sum)
  }

  /// Decodes a decision.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let digits = try container.decode(String.self, forKey: .sum)
    guard let sum = WideInt(digits: digits),
      let decoded = Cancellation(
        decided: try container.decode(UInt64.self, forKey: .decided),
        turns: try container.decode(UInt64.self, forKey: .turns),
        canceled: try container.decode(UInt64.self, forKey: .canceled),
        sum: sum)
    else {
      throw decoder.corrupted(
        "\"decided\" must be above zero, \"canceled\" must equal it, or be at "
          + "most as great after turns, and \"sum\" must be an integer, zero "
          + "if no change is canceled.")
    }
    self = decoded
  }
}
