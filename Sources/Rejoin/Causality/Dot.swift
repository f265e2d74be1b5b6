// SPDX-License-Identifier: Apache-2.0

/// The ID of a save: a device and a sequence number.
///
/// A save uses one dot, regardless of how many fields and records it changes.
/// Removals, deletions, resets and purges also use a dot, because deltas find
/// changes by their dots. A change without a dot would never be sent.
public struct Dot: Hashable, Codable, Sendable {
  /// The device of the save.
  public var device: DeviceID

  /// The sequence number of the save: 1, 2, 3 and so on, without gaps.
  public var sequence: UInt64

  /// Creates a dot from a device and a sequence number.
  public init(_ device: DeviceID, _ sequence: UInt64) {
    self.device = device
    self.sequence = sequence
  }
}

extension Dot: Comparable {
  /// Orders dots by device and then by sequence number, for storage and
  /// encoding.
  ///
  /// The order has no causal meaning.
  public static func < (a: Dot, b: Dot) -> Bool {
    a.device != b.device ? a.device < b.device : a.sequence < b.sequence
  }
}

extension Dot: CustomStringConvertible {
  /// The device and the sequence number, for example `phone:3`.
  public var description: String { "\(device):\(sequence)" }
}

/// A set of dots that a join only tests for membership.
package protocol DotSet {
  /// Returns whether the set contains `dot`.
  func contains(_ dot: Dot) -> Bool
}

/// A set of a single dot.
struct Only: DotSet {
  private let dot: Dot

  init(_ dot: Dot) { self.dot = dot }

  func contains(_ other: Dot) -> Bool { dot == other }
}

/// The set of all dots, for a change that supersedes all present content.
struct Everything: DotSet {
  func contains(_ dot: Dot) -> Bool { true }
}
