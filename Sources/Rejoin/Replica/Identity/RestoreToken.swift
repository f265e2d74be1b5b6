// SPDX-License-Identifier: Apache-2.0

/// What the caller keeps outside every backup, to tell whether a stored replica is
/// the one that was last in use.
///
/// It names the last own save that may have been sent. The order is: persist the
/// replica's ``Replica/state``, then its ``Replica/token``, then send. A stored
/// replica in whose history the token's save is not was restored or cloned.
///
///     try store(replica.state.encoded())
///     try keychain.set(replica.token.encoded())
///     replica.tokenStored(replica.token)
///     send(delta)
public struct RestoreToken: Hashable, Sendable, Codable {
  /// The device that was in use.
  public let device: DeviceID
  /// The number of its last save; zero if it had none.
  public let sequence: UInt64
  /// The digest of its saves up to there.
  public let digest: UInt64
  /// How many pulls its devices for servers had made.
  public let pulls: UInt64

  /// Creates the token that belongs to a stored replica.
  public init(_ stored: StoredReplica) {
    let save = stored.version[stored.device]
    self.init(
      device: stored.device, sequence: save.sequence, digest: save.digest,
      pulls: stored.pullCount)
  }

  init(device: DeviceID, sequence: UInt64, digest: UInt64, pulls: UInt64 = 0) {
    (self.device, self.sequence, self.digest) = (device, sequence, digest)
    self.pulls = pulls
  }

  /// Whether a stored replica goes on from this token.
  func isContained(in stored: StoredReplica) -> Bool {
    guard device == stored.device, pulls <= stored.pullCount else {
      return false
    }
    return sequence == 0 || stored.ownDigest(of: sequence) == digest
  }
}

extension StoredReplica {
  /// How many saves the devices for servers have made: it only grows while the
  /// device stays the same.
  fileprivate var pullCount: UInt64 {
    pullers.values.reduce(0) { $0 &+ version[$1].sequence }
  }

  /// The digest of one of our own saves, if it is kept.
  func ownDigest(of n: UInt64) -> UInt64? {
    if let digest = ownDigests[n] { return digest }
    return durableToken?.sequence == n ? durableToken?.digest : nil
  }
}
