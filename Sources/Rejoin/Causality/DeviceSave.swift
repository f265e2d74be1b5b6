// SPDX-License-Identifier: Apache-2.0

/// The latest save of a device, as somebody holds it.
public struct DeviceSave: Hashable, Sendable {
  /// Its number.
  public let sequence: UInt64
  /// Its timestamp.
  public let time: Timestamp
  /// The digest that the device chains over its own saves; zero where it is not
  /// known.
  public let digest: UInt64
  /// Whether two histories of the device are known to exist.
  public internal(set) var isForked: Bool

  package init(
    sequence: UInt64, time: Timestamp, digest: UInt64, isForked: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.digest = digest
    self.isForked = isForked
  }

  static let none = DeviceSave(sequence: 0, time: .zero, digest: 0)

  /// Whether two saves with one number belong to different histories.
  func contradicts(_ other: DeviceSave) -> Bool {
    sequence == other.sequence && sequence > 0 && digest != 0
      && other.digest != 0
      && digest != other.digest
  }

  /// The later of two saves.
  ///
  /// Of a forked device the digests join by union of bits, so that whoever has met
  /// both histories shows the same.
  func joined(_ other: DeviceSave) -> DeviceSave {
    let isForked = isForked || other.isForked || contradicts(other)
    if !isForked, sequence != other.sequence {
      return sequence < other.sequence ? other : self
    }
    return DeviceSave(
      sequence: max(sequence, other.sequence), time: max(time, other.time),
      digest: digest | other.digest, isForked: isForked)
  }
}
