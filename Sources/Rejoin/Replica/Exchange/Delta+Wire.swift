// SPDX-License-Identifier: Apache-2.0

extension Delta {
  /// Reads a delta.
  ///
  ///     let delta = try Delta(decoding: bytes)
  ///     delta.encoded() == bytes  // true
  ///
  /// Validates the whole message before using any of it, and accepts only the
  /// canonical encoding. The delta keeps the bytes; those of an array are not
  /// copied.
  ///
  /// - Throws: ``WireError``, with the offset and what was expected there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    message = try ValidatedMessage(Array(bytes), as: [.delta])
  }

  /// The delta as bytes.
  ///
  /// Equal deltas have equal bytes, in every process. Those of ledgers that are
  /// folded to different depths differ: see ``Replica/encoded(foldingLedgers:)``.
  ///
  /// - Complexity: O(1), except for the delta of a ``ReplicaSnapshot``, which is
  ///   written anew.
  public func encoded() -> [UInt8] {
    message.head.kind == .delta
      ? message.bytes
      : Delta(changes: changes, intervals: intervals).message.bytes
  }
}
