// SPDX-License-Identifier: Apache-2.0

/// The digests of a device's latest saves.
///
/// They show whether a peer's version belongs to this history of the device or
/// to another one.
package struct OwnDigests: Equatable, Sendable {
  /// The maximum number of digests, regardless of the stability cut.
  ///
  /// They take 32 KiB. The digests cannot reveal a fork that started earlier.
  static let limit: UInt64 = 4_096

  /// The number of the last save whose digest was dropped.
  package private(set) var floor: UInt64

  /// The digests of the saves after `floor`, in order, at most `limit`.
  ///
  /// Not empty after the device's first save, because a token is compared with
  /// the digest of the last save.
  package private(set) var digests: [UInt64]

  init(above floor: UInt64 = 0, _ digests: [UInt64] = []) {
    (self.floor, self.digests) = (floor, digests)
  }

  /// The digest of the save with number `n`, or `nil` if it is not kept.
  subscript(n: UInt64) -> UInt64? {
    guard n > floor, n - floor <= UInt64(digests.count) else { return nil }
    return digests[Int(n - floor) - 1]
  }

  /// Returns whether the last digest is that of the save with number `last`.
  func end(with last: UInt64) -> Bool {
    let (end, overflow) = floor.addingReportingOverflow(UInt64(digests.count))
    return !overflow && end == last && (last == 0) == digests.isEmpty
  }

  /// Adds the digest of the next save, and drops the oldest above the limit.
  ///
  /// - Complexity: Amortized O(1), because half of the digests are dropped
  ///   together.
  mutating func append(_ digest: UInt64) {
    digests.append(digest)
    if digests.count > OwnDigests.limit {
      forget(through: floor + OwnDigests.limit / 2)
    }
  }

  /// Drops the digests of the saves up to `n`, except that of the last save.
  mutating func forget(through n: UInt64) {
    let count = min(Int(clamping: n - min(n, floor)), digests.count - 1)
    guard count > 0 else { return }
    digests.removeFirst(count)
    floor += UInt64(count)
  }
}

extension OwnDigests {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that at most `limit` digests are kept, and at least one if some
    /// were dropped.
    func _checkInvariants() {
      precondition(
        digests.count <= Int(OwnDigests.limit),
        "\(digests.count) own digests are kept, more than the limit")
      precondition(
        floor == 0 || !digests.isEmpty,
        "the digest of the last own save, \(floor), was dropped")
    }
  #else
    func _checkInvariants() {}
  #endif
}
