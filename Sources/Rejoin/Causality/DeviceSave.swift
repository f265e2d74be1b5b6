// SPDX-License-Identifier: Apache-2.0

/// The latest save of a device that a replica knows.
public struct DeviceSave: Hashable, Sendable {
  /// The sequence number of the save, or zero if the device has no saves.
  public let sequence: UInt64
  /// The timestamp of the save.
  public let time: Timestamp
  /// The digest, chained over all saves of the device up to this one, or zero
  /// if it is unknown.
  public let digest: UInt64
  /// Whether the replica knows two histories under this device ID.
  ///
  /// Never reset, because the histories cannot be separated again.
  public internal(set) var isForked: Bool

  package init(
    sequence: UInt64, time: Timestamp, digest: UInt64, isForked: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.digest = digest
    self.isForked = isForked
  }

  /// The entry of a device without saves.
  package static let none = DeviceSave(sequence: 0, time: .zero, digest: 0)

  /// Returns whether both saves have the same sequence number but different
  /// digests, and so belong to different histories.
  ///
  /// Zero stands for an unknown digest, which contradicts no other.
  func contradicts(_ other: DeviceSave) -> Bool {
    sequence == other.sequence && sequence > 0 && digest != 0
      && other.digest != 0
      && digest != other.digest
  }

  /// Returns whether another digest of the save with this number belongs to a
  /// different history.
  ///
  /// The digest of a forked device is a union, which may contain the other
  /// digest.
  func excludes(_ other: UInt64) -> Bool {
    digest != 0 && (isForked ? other & ~digest != 0 : other != digest)
  }

  /// Returns the lesser of this save, which a prefix contains, and another save
  /// of the device, or `nil` if no common save is known.
  ///
  /// A save contains the saves before it. If the device is forked, a number can
  /// stand for either of two histories. Only a prefix whose save is flagged
  /// contains a history from its first save on, and the numbers and digests must
  /// be equal. The times may differ, because the sender of an earlier save does
  /// not know its time.
  func common(with other: DeviceSave, isForked: Bool) -> DeviceSave? {
    if isForked || self.isForked || other.isForked || contradicts(other) {
      return self.isForked && isSame(as: other) ? self : nil
    }
    let lesser = sequence < other.sequence ? self : other
    return lesser.sequence > 0 ? lesser : nil
  }

  /// Returns whether both saves have the same sequence number and the same
  /// digest.
  func isSame(as other: DeviceSave) -> Bool {
    sequence == other.sequence && digest == other.digest
  }

  /// Returns the join of two entries of one device, which is the later save.
  ///
  /// A forked device has no later save, so sequence numbers, timestamps and
  /// digests are joined separately. Digests are joined by bitwise OR, which is
  /// commutative, associative and idempotent. All replicas that have seen both
  /// histories therefore have the same entry.
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
