// SPDX-License-Identifier: Apache-2.0

/// The ID of a save: a device and a sequence number.
///
/// A save uses one dot, however many fields and records it touches. A removal,
/// a deletion, a reset and a purge use one, too: deltas find changes by their
/// dots, so a change without one would never be sent.
public struct Dot: Hashable, Codable, Sendable {
  /// The device that saved.
  public var device: DeviceID

  /// The sequence number of the save: 1, 2, 3, … without gaps.
  public var sequence: UInt64

  /// Creates the dot of the save with a sequence number.
  public init(_ device: DeviceID, _ sequence: UInt64) {
    self.device = device
    self.sequence = sequence
  }
}

extension Dot: Comparable {
  /// Orders dots by device and then by sequence number, for storage and
  /// encoding.
  ///
  /// The order says nothing about causality.
  public static func < (a: Dot, b: Dot) -> Bool {
    a.device != b.device ? a.device < b.device : a.sequence < b.sequence
  }
}

extension Dot: CustomStringConvertible {
  /// The device and the sequence number, for example `phone:3`.
  public var description: String { "\(device):\(sequence)" }
}
