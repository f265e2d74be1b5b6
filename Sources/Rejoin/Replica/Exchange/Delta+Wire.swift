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
    self.init(try EncodedMessage(checking: Array(bytes), as: .delta))
  }

  /// The delta as bytes.
  ///
  /// Equal deltas have equal bytes, in every process.
  ///
  /// The exception is ledgers that are folded to different depths: they are
  /// equal but have different bytes. See ``Replica/encoded(foldingLedgers:)``.
  public func encoded() -> [UInt8] { encoded(as: .delta) }

  func encoded(as kind: WireKind) -> [UInt8] {
    if let message, message.kind == kind { return message.bytes }
    return MessageWriter(changes, intervals, as: kind).out.sealed()
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
    let message = try EncodedMessage(checking: Array(bytes), as: .record)
    self = Delta(message).changes[0]
  }

  /// The record as bytes, with its fields and their causal contexts.
  public func encoded() -> [UInt8] {
    MessageWriter([self], [:], as: .record).out.sealed()
  }
}

extension Replica {
  /// A record with all of its fields, to be sent or stored on its own.
  ///
  /// - Returns: `nil` if no save has changed the record.
  public func change(of id: RecordID) -> Delta.Change? {
    stored.positions[id].map { stored.change(at: $0) }
  }
}

extension StoredReplica {
  /// The record at an index, with all of its fields.
  func change(at position: Int) -> Delta.Change {
    let record = records[position]
    let fields = record.slots.map { (names.keys[Int($0.name)], $0.state) }
    return Delta.Change(
      id: record.id, fields: Dictionary(uniqueKeysWithValues: fields))
  }
}
