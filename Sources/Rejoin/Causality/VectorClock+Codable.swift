// SPDX-License-Identifier: Apache-2.0

extension VectorClock: Codable {
  /// Encodes the last dot of each device, in order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for entry in entries {
      try container.encode(Dot(entry.device, entry.count))
    }
  }

  /// Decodes the last dot of each device.
  public init(from decoder: any Decoder) throws {
    let dots = try [Dot](from: decoder)
    let areSorted = zip(dots, dots.dropFirst()).allSatisfy {
      $0.device < $1.device
    }
    guard areSorted, dots.allSatisfy({ $0.sequence > 0 }) else {
      throw decoder.corrupted(
        "expected each device once, sorted, with a sequence number above zero")
    }
    self.init(sorted: dots.map { Entry(device: $0.device, count: $0.sequence) })
  }
}
