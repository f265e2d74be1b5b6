// SPDX-License-Identifier: Apache-2.0

extension Timestamp: Codable {
  /// Encodes the 64 bits as one number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }

  /// Decodes the 64 bits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self.init(rawValue: try container.decode(UInt64.self))
  }
}

extension Dot: Codable {
  private enum CodingKeys: CodingKey { case device, sequence }

  /// Encodes the device and the sequence number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(device, forKey: .device)
    try container.encode(sequence, forKey: .sequence)
  }

  /// Decodes the device and the sequence number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try container.decode(DeviceID.self, forKey: .device),
      try container.decode(UInt64.self, forKey: .sequence))
  }
}

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

extension CausalContext: Codable {
  private enum CodingKeys: CodingKey { case clock, dots }

  /// Encodes the contiguous part, and any dots beyond it.
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
    // A stand-alone value makes its next dot by adding one, which must not
    // overflow.
    guard clock.entries.allSatisfy({ $0.count < 1 << 63 }),
      dots.allSatisfy({ $0.sequence > 0 && $0.sequence < 1 << 63 })
    else {
      throw decoder.corrupted("expected sequence numbers from 1 to 2⁶³ − 1")
    }
    self = CausalContext(clock).merging(CausalContext(dots: dots))
    guard self.clock == clock, scattered.sorted() == dots else {
      throw decoder.corrupted(
        "expected sorted dots, none contained in the clock or following it")
    }
  }
}
