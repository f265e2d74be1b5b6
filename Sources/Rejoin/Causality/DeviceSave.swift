// SPDX-License-Identifier: Apache-2.0

/// A device's latest save, as far as one replica knows.
public struct DeviceSave: Hashable, Sendable {
  /// Its sequence number; zero if there is no save.
  public let sequence: UInt64
  /// Its timestamp.
  public let time: Timestamp
  /// The device's digest, chained over all of its saves up to this one; zero if
  /// unknown.
  public let digest: UInt64
  /// Whether two histories are known under this device ID.
  ///
  /// Never reset: the histories cannot be separated again.
  public internal(set) var isForked: Bool

  package init(
    sequence: UInt64, time: Timestamp, digest: UInt64, isForked: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.digest = digest
    self.isForked = isForked
  }

  /// The entry of a device that has not saved.
  package static let none = DeviceSave(sequence: 0, time: .zero, digest: 0)

  /// Whether both have the same sequence number but different digests, and so
  /// belong to different histories.
  ///
  /// Zero is an unknown digest, which contradicts nothing.
  func contradicts(_ other: DeviceSave) -> Bool {
    sequence == other.sequence && sequence > 0 && digest != 0
      && other.digest != 0
      && digest != other.digest
  }

  /// Whether a digest of the save with this number is none that the entry stands
  /// for, so that there are two saves of that number.
  ///
  /// The digest of a forked device is a union, which may contain it.
  func excludes(_ other: UInt64) -> Bool {
    digest != 0 && (isForked ? other & ~digest != 0 : other != digest)
  }

  /// Returns the lesser of two saves of a device, which contain the saves before them.
  ///
  /// If the device is forked, a number can stand for either of two histories. Then the
  /// two saves must be the same.
  func common(with other: DeviceSave, isForked: Bool) -> DeviceSave? {
    if isForked || self.isForked || other.isForked || contradicts(other) {
      return self == other ? self : nil
    }
    let lesser = sequence < other.sequence ? self : other
    return lesser.sequence > 0 ? lesser : nil
  }

  /// The join of two entries of one device: the later save.
  ///
  /// For a forked device there is no later save: sequence, time and digest are
  /// joined separately. The digests are joined by bitwise OR, which is
  /// commutative, associative and idempotent, so that all replicas that have
  /// seen both histories hold the same entry.
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
