// SPDX-License-Identifier: Apache-2.0

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
        beside: reader.remaining == 0
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
