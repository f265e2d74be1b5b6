// SPDX-License-Identifier: Apache-2.0

/// A token that identifies the last local save that may have been sent.
///
/// It distinguishes a restored backup from the latest state. Keep it outside
/// all backups. Store the replica's ``Replica/state`` first, then its
/// ``Replica/restoreToken``, and then send:
///
///     try store(replica.state.encoded())
///     try keychain.set(replica.restoreToken.encoded())
///     replica.confirmTokenStored(replica.restoreToken)
///     send(delta)
///
/// If the history of a stored replica does not contain the token's save, the
/// replica is a restored backup or a clone. If the history goes beyond the
/// token, the replica is neither: the app stopped between storing the state and
/// the token.
public struct RestoreToken: Hashable, Sendable, Codable {
  /// The device that made the save.
  public let device: DeviceID
  /// The number of the device's last save, or zero without saves.
  public let sequence: UInt64
  /// The digest of the device's saves up to that number.
  public let digest: UInt64
  /// The number of pulls by the device's installation.
  public let pullCount: UInt64
  /// The other devices of the installation, whose saves a restored backup can
  /// lack.
  package let otherDevices: [DeviceID]

  /// The maximum number of other devices.
  static let deviceLimit = 2 * Identity.formerLimit

  /// Creates the token of a stored replica's last local save.
  public init(_ state: ReplicaState) {
    let save = state.version[state.device]
    self.init(
      device: state.device, sequence: save.sequence, digest: save.digest,
      pulls: state.identity.pullCount(at: state.version),
      others: state.identity.otherDevices.suffix(Self.deviceLimit))
  }

  init(
    device: DeviceID, sequence: UInt64, digest: UInt64, pulls: UInt64 = 0,
    others: [DeviceID] = []
  ) {
    (self.device, self.sequence, self.digest) = (device, sequence, digest)
    (pullCount, otherDevices) = (pulls, others)
  }

  /// Returns whether a stored replica's history contains the token's save.
  package func isContained(in state: ReplicaState) -> Bool {
    let identity = state.identity
    return device == identity.device
      && pullCount <= identity.pullCount(at: state.version)
      && (sequence == 0 || identity.digest(ofSave: sequence) == digest)
  }

  /// Returns whether the saves up to another token need no token after this
  /// one.
  package func covers(_ other: RestoreToken) -> Bool {
    device == other.device && other.sequence <= sequence
      && other.pullCount <= pullCount
  }
}

extension RestoreToken {
  /// Decodes a token.
  ///
  /// - Throws: ``WireError``, with the offset and the expected content.
  public init(decoding bytes: some Sequence<UInt8>) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try WireReader(opening: bytes, as: [.token])
      let token = RestoreToken(
        device: try reader.device(), sequence: try reader.varint(),
        digest: try reader.fixed(), pulls: try reader.varint(),
        others: reader.remaining == 0
          ? [] : try reader.devices(atMost: RestoreToken.deviceLimit))
      try reader.finish()
      return token
    }
  }

  /// Returns the token as bytes, at most 51 and 16 for each other device of the
  /// installation.
  public func encoded() -> [UInt8] {
    var writer = WireWriter(.token)
    writer.raw(device.bytes)
    writer.varint(sequence)
    writer.fixed(digest)
    writer.varint(pullCount)
    if !otherDevices.isEmpty { writer.devices(otherDevices) }
    return writer.sealed()
  }
}
