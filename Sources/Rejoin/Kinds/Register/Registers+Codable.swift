// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a write: its dot, its timestamp and its value.
struct CodedWrite: Codable {
  let device: DeviceID
  let sequence: UInt64
  let time: Timestamp
  /// The value, or `nil` if the write unset the register.
  let value: Value?

  init(_ element: Siblings<Stamped>.Element) {
    (device, sequence) = (element.dot.device, element.dot.sequence)
    (time, value) = (element.payload.time, element.payload.value)
  }

  var element: Siblings<Stamped>.Element {
    .init(dot: Dot(device, sequence), payload: Stamped(value, at: time))
  }
}

extension MVRegister: Codable {
  private enum CodingKeys: CodingKey { case writes, seen }

  /// Encodes the concurrent writes, sorted by dot, and the causal context.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(state.store.map(CodedWrite.init), forKey: .writes)
    try container.encode(state.context, forKey: .seen)
  }

  /// Decodes the writes and the causal context.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let writes = try container.decode([CodedWrite].self, forKey: .writes)
      .map(\.element)
    let seen = try container.decode(CausalContext.self, forKey: .seen)
    try decoder.check(writes.map(\.dot), areSeenBy: seen)
    self.init(
      state: Causal(store: Siblings(sorted: writes), context: seen))
  }
}

extension LWWRegister: Codable {
  private enum CodingKeys: CodingKey { case device, time, value }

  /// Encodes the current write, or an empty object before the first write.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    guard let write else { return }
    try container.encode(write.device, forKey: .device)
    try container.encode(write.content.time, forKey: .time)
    try container.encodeIfPresent(write.content.value, forKey: .value)
  }

  /// Decodes the current write.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    guard !container.allKeys.isEmpty else { return }
    let device = try container.decode(DeviceID.self, forKey: .device)
    let time = try container.decode(Timestamp.self, forKey: .time)
    let value = try container.decodeIfPresent(Value.self, forKey: .value)
    write = Write(device: device, content: Stamped(value, at: time))
  }
}
