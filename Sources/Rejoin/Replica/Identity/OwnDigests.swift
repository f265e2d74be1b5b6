// SPDX-License-Identifier: Apache-2.0

/// The digests of a device's latest own saves, by which a clock is recognized that
/// stems from another history of the device.
struct OwnDigests: Sendable {
  /// How many are kept at most, however little is stable.
  static let limit: UInt64 = 4_096

  /// The number of the save before the first whose digest is kept.
  private(set) var floor: UInt64
  private(set) var digests: [UInt64]

  init(above floor: UInt64 = 0, _ digests: [UInt64] = []) {
    (self.floor, self.digests) = (floor, digests)
  }

  /// The digest of a save, if it is kept.
  subscript(n: UInt64) -> UInt64? {
    guard n > floor, n - floor <= UInt64(digests.count) else { return nil }
    return digests[Int(n - floor) - 1]
  }

  /// Adds the digest of the next save, and forgets those that nothing needs.
  ///
  /// They are dropped half of the limit at a time, so that a save costs no more
  /// on average.
  mutating func append(_ digest: UInt64) {
    digests.append(digest)
    if digests.count > OwnDigests.limit {
      forget(through: floor + OwnDigests.limit / 2)
    }
  }

  /// Forgets the digests of the saves up to one, the last save apart.
  mutating func forget(through n: UInt64) {
    let count = min(Int(clamping: n - min(n, floor)), digests.count - 1)
    guard count > 0 else { return }
    digests.removeFirst(count)
    floor += UInt64(count)
  }
}
