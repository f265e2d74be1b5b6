// SPDX-License-Identifier: Apache-2.0

/// A write to a register: its save, its timestamp and its value.
public struct RegisterWrite: Hashable, Sendable {
  /// The save that wrote the value.
  public let dot: Dot

  /// The timestamp of the write.
  public let time: Timestamp

  /// The value, or `nil` if the write unset the register.
  public let value: Value?

  /// Creates a description of a write.
  public init(dot: Dot, time: Timestamp, value: Value?) {
    (self.dot, self.time, self.value) = (dot, time, value)
  }

  package init(_ element: Siblings<Stamped>.Element) {
    self.init(
      dot: element.dot, time: element.payload.time,
      value: element.payload.value)
  }
}
