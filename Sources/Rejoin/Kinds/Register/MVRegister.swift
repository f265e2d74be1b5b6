// SPDX-License-Identifier: Apache-2.0

/// A multi-value register, which keeps concurrent writes until a later write
/// supersedes them.
///
///     var title = MVRegister<String>()
///     title.write("Draft", on: phone, at: Timestamp(milliseconds: 1))
///     var copy = title
///     title.write("Plan", on: phone, at: Timestamp(milliseconds: 2))
///     copy.write("Sketch", on: tablet, at: Timestamp(milliseconds: 3))
///     title.merge(copy)
///     title.value      // "Sketch"
///     title.conflicts  // ["Plan"]
///
/// A write supersedes other writes by their dots. Timestamps only order
/// concurrent writes, so the visible value is never one that a later write has
/// seen, whatever the clocks show. See Shapiro et al., *A comprehensive study*
/// (2011), §3.2.2.
public struct MVRegister<Element: FieldValue>: Hashable, Sendable {
  private(set) var state = Causal<Siblings<Stamped>>()

  /// Creates an unset register.
  public init() {}

  init(state: Causal<Siblings<Stamped>>) { self.state = state }

  /// The value of the write with the greatest timestamp, or `nil` while the
  /// register is unset.
  public var value: Element? {
    state.store.winner?.payload.value.flatMap { Element(fieldValue: $0) }
  }

  /// The values of concurrent writes that differ from the visible value, sorted
  /// and without duplicates.
  ///
  /// The first value is `nil` if a write unset the register.
  public var conflicts: [Element?] {
    state.store.conflicts.converted { Element(fieldValue: $0) }
  }

  /// The device that wrote the visible value.
  public var author: DeviceID? { state.store.winner?.dot.device }

  /// The saves that the register has seen.
  public var clock: VectorClock { state.clock }

  /// Writes a value that supersedes every sibling.
  ///
  /// - Parameters:
  ///   - value: The value, or `nil` to unset the register.
  ///   - device: The device that writes the value.
  ///   - time: The timestamp of the write, from the device's ``HybridClock``.
  /// - Returns: The delta to merge into other copies.
  @discardableResult
  public mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp
  ) -> MVRegister {
    write(value, on: device, at: time, seen: Everything())
  }

  /// Writes a value that supersedes only the siblings in `observed`.
  ///
  /// Other siblings stay. If one of them would win, the new write gets a later
  /// timestamp, so it is visible.
  ///
  /// - Returns: The delta to merge into other copies.
  @discardableResult
  public mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp,
    observed: VectorClock
  ) -> MVRegister {
    write(value, on: device, at: time, seen: observed)
  }

  private mutating func write(
    _ value: Element?, on device: DeviceID, at time: Timestamp,
    seen: some DotSet
  ) -> MVRegister {
    let before = state.store
    let (dot, _) = state.updateNext(of: device) { siblings, dot in
      siblings.write(value?.fieldValue, at: dot, time: time, observed: seen)
    }
    // The delta has seen only the new dot and the dots that it superseded. It
    // does not contain the siblings that stay, so its context must not contain
    // them either.
    var delta = MVRegister()
    let kept = Set(state.store.map(\.dot))
    var change = state.store
    change.drop(seen: CausalContext(dots: kept.subtracting([dot])))
    let dropped = before.map(\.dot).filter { !kept.contains($0) }
    delta.state = Causal(
      store: change, context: CausalContext(dots: dropped + [dot]))
    return delta
  }
}

extension MVRegister: Lattice {
  public mutating func merge(_ other: MVRegister) { state.merge(other.state) }
}

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
