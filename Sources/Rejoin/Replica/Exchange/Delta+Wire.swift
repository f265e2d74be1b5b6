// SPDX-License-Identifier: Apache-2.0

extension Delta {
  /// Decodes a delta.
  ///
  ///     let delta = try Delta(decoding: bytes)
  ///     delta.encoded() == bytes  // true
  ///
  /// The initializer validates the whole message before it uses any part, and
  /// accepts only the canonical encoding. The delta keeps the bytes. It does
  /// not copy those of an array.
  ///
  /// - Throws: ``WireError``, with the offset and the expected content.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    message = try ValidatedMessage(Array(bytes), as: [.delta])
  }

  /// Returns the delta as bytes.
  ///
  /// Equal deltas have equal bytes, in every process. Deltas differ if their
  /// ledgers are folded to different depths: see
  /// ``Replica/encoded(foldingLedgers:)``.
  ///
  /// - Complexity: O(1), except for the delta of a ``ReplicaSnapshot``, which
  ///   is encoded again.
  public func encoded() -> [UInt8] {
    message.head.kind == .delta
      ? message.bytes
      : Delta(changes: changes, intervals: intervals).message.bytes
  }
}
