// SPDX-License-Identifier: Apache-2.0

/// One write of a register: the save that made it, when, and what it wrote.
public struct Write: Hashable, Sendable {
  /// The save: the device and the number.
  public let dot: Dot

  /// The timestamp of the write.
  public let time: Timestamp

  /// The value; `nil` where the write unset the register.
  public let value: Value?

  /// Describes a write.
  public init(dot: Dot, time: Timestamp, value: Value?) {
    (self.dot, self.time, self.value) = (dot, time, value)
  }

  init(_ element: Siblings<Stamped>.Element) {
    self.init(
      dot: element.dot, time: element.payload.time,
      value: element.payload.value)
  }
}
