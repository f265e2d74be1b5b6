// SPDX-License-Identifier: Apache-2.0

extension CausalContext: Codable {
  private enum CodingKeys: CodingKey { case clock, dots }

  /// Encodes the contiguous part and any dots beyond it.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(clock, forKey: .clock)
    let dots = dotCloud
    if !dots.isEmpty { try container.encode(dots, forKey: .dots) }
  }

  /// Decodes the contiguous part and the dots beyond it.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let clock = try container.decode(VectorClock.self, forKey: .clock)
    let dots = try container.decodeIfPresent([Dot].self, forKey: .dots) ?? []
    // A stand-alone value adds one to get its next dot, which must not
    // overflow.
    guard clock.entries.allSatisfy({ $0.count < 1 << 63 }),
      dots.allSatisfy({ $0.sequence > 0 && $0.sequence < 1 << 63 })
    else {
      throw decoder.corrupted("expected sequence numbers from 1 to 2⁶³ − 1")
    }
    self = CausalContext(clock).merging(CausalContext(dots: dots))
    guard self.clock == clock, dotCloud == dots else {
      throw decoder.corrupted(
        "expected sorted dots, none contained in the clock or following it")
    }
  }
}

extension Decoder {
  /// Throws an error unless the dots are sorted, distinct and in the causal
  /// context.
  func check(_ dots: [Dot], areSeenBy seen: CausalContext) throws {
    guard zip(dots, dots.dropFirst()).allSatisfy(<) else {
      throw corrupted("expected sorted, distinct dots")
    }
    guard dots.allSatisfy({ $0.sequence > 0 && seen.contains($0) }) else {
      throw corrupted("expected dots that `seen` contains, numbered from one")
    }
  }
}
