// SPDX-License-Identifier: Apache-2.0

extension PNCounter: Codable {
  private enum CodingKeys: CodingKey { case entries, canceled }

  /// Encodes the sums of each device, sorted by device, and the canceled
  /// changes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entries, forKey: .entries)
    if !canceled.isEmpty {
      try container.encode(canceled, forKey: .canceled)
    }
  }

  /// Decodes the sums of each device and the canceled changes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let entries = try container.decode([Entry].self, forKey: .entries)
    let canceled =
      try container.decodeIfPresent([Canceled].self, forKey: .canceled) ?? []
    for devices in [entries.map(\.device), canceled.map(\.device)] {
      guard zip(devices, devices.dropFirst()).allSatisfy(<) else {
        throw decoder.corrupted("expected each device once, sorted")
      }
    }
    guard entries.allSatisfy({ $0.sequence > 0 }) else {
      throw decoder.corrupted("expected sequence numbers above zero")
    }
    let isWithin = { (part: Canceled) in
      let last = entries.entry(of: part.device)?.sequence ?? 0
      return part.decision.decided <= last && Entry.isSum(part.decision.sum)
    }
    guard canceled.allSatisfy(isWithin) else {
      throw decoder.corrupted(
        "expected decisions on changes of the entries, and sums within their "
          + "range")
    }
    self.init(entries: entries, canceled: canceled)
  }
}

extension PNCounter.Canceled: Codable {
  private enum CodingKeys: CodingKey { case device }

  /// Encodes the device and the parts of its decision.
  @usableFromInline
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(device, forKey: .device)
    try decision.encode(to: encoder)
  }

  /// Decodes the device and the parts of its decision.
  @usableFromInline
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    device = try container.decode(DeviceID.self, forKey: .device)
    decision = try Cancellation(from: decoder)
  }
}
