// SPDX-License-Identifier: Apache-2.0

/// The name of one save: the `n`-th save of a device.
///
/// One save takes one dot, however many fields of however many records it
/// touches. A removal, a deletion, a reset and a purge take one too; otherwise
/// they could not travel.
public struct Dot: Hashable, Codable, Sendable {
  /// The device that saved.
  public var device: DeviceID

  /// The number of the save: 1, 2, 3, … without gaps.
  public var sequence: UInt64

  /// Creates the dot of the `n`-th save of `device`.
  public init(_ device: DeviceID, _ sequence: UInt64) {
    self.device = device
    self.sequence = sequence
  }
}

extension Dot: Comparable {
  /// Orders dots for storage and encoding; it says nothing about causality.
  public static func < (a: Dot, b: Dot) -> Bool {
    a.device != b.device ? a.device < b.device : a.sequence < b.sequence
  }
}

extension Dot: CustomStringConvertible {
  /// The device and the number, for example `phone:3`.
  public var description: String { "\(device):\(sequence)" }
}
