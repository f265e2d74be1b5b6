// SPDX-License-Identifier: Apache-2.0

extension CausalContext: Codable {
  private enum CodingKeys: CodingKey { case clock, dots }

  /// Encodes the contiguous part, and the dots beyond it where there are any.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(clock, forKey: .clock)
    let dots = scattered.sorted()
    if !dots.isEmpty { try container.encode(dots, forKey: .dots) }
  }

  /// Decodes the contiguous part and the dots beyond it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let clock = try container.decode(VectorClock.self, forKey: .clock)
    let dots = try container.decodeIfPresent([Dot].self, forKey: .dots) ?? []
    // Stand-alone values name their next change by adding one.
    guard clock.entries.allSatisfy({ $0.count < 1 << 63 }),
      dots.allSatisfy({ $0.sequence > 0 && $0.sequence < 1 << 63 })
    else { throw decoder.corrupted("a number of a change is below 2⁶³") }
    self = CausalContext(clock).merging(CausalContext(dots: dots))
    guard self.clock == clock, scattered.sorted() == dots else {
      throw decoder.corrupted("dots ascend, and the clock has none of them")
    }
  }
}

extension Decoder {
  /// Refuses dots that do not ascend or that have not been seen.
  func check(_ dots: [Dot], areSeenBy seen: CausalContext) throws {
    guard zip(dots, dots.dropFirst()).allSatisfy(<) else {
      throw corrupted("dots ascend")
    }
    guard dots.allSatisfy({ $0.sequence > 0 && seen.contains($0) }) else {
      throw corrupted("what is there has been seen")
    }
  }
}
