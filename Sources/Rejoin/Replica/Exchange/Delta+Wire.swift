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
    try self.init(Array(bytes), as: .delta)
  }

  /// The delta as bytes.
  ///
  /// Equal deltas have equal bytes, in every process. Those of ledgers that are
  /// folded to different depths differ: see ``Replica/encoded(foldingLedgers:)``.
  ///
  /// - Complexity: O(1), except for the delta of a ``Snapshot``, which is
  ///   written anew.
  public func encoded() -> [UInt8] {
    kind == .delta ? bytes : Delta(changes: changes, intervals: intervals).bytes
  }
}

extension Delta.Change {
  /// Reads a single record.
  ///
  /// To join it, pass a delta of this one record to
  /// ``Replica/apply(_:reporting:)``.
  ///
  /// - Throws: ``WireError``, with the offset and what was expected there.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try Delta(Array(bytes), as: .record).changes[0]
  }

  /// The record as bytes, with its fields and their causal contexts.
  public func encoded() -> [UInt8] {
    Delta(MessageContent([self]), [:], as: .record).bytes
  }
}

extension Replica {
  /// A record with all of its fields, to be sent or stored on its own.
  ///
  /// - Returns: `nil` if no save has changed the record.
  public func change(of id: RecordID) -> Delta.Change? {
    stored.positions[id].map { position in
      let record = stored.records[position]
      let fields = record.slots.map {
        (stored.names[$0.name], $0.state)
      }
      return Delta.Change(
        id: record.id, fields: Dictionary(uniqueKeysWithValues: fields))
    }
  }
}
