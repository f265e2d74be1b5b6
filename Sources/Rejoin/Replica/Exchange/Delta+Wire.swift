// SPDX-License-Identifier: Apache-2.0

extension Delta {
  /// Reads a delta.
  ///
  ///     let delta = try Delta(decoding: bytes)
  ///     delta.encoded() == bytes  // true
  ///
  /// Everything is looked at before anything is believed, and what a writer would
  /// have written in another way is refused. The bytes are kept; of an array they
  /// are not copied.
  ///
  /// - Throws: ``WireError``, with the place and what should have been there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self.init(try EncodedMessage(checking: Array(bytes), as: .delta))
  }

  /// The delta as bytes: equal deltas give equal bytes, in every process.
  ///
  /// Ledgers that have been folded to different depths are equal and differ in
  /// bytes; ``Replica/encoded(foldingLedgers:)`` can leave that out.
  public func encoded() -> [UInt8] { encoded(as: .delta) }

  func encoded(as kind: WireKind) -> [UInt8] {
    if let message, message.kind == kind { return message.bytes }
    return MessageWriter(changes, intervals, as: kind).out.sealed()
  }
}

extension Delta.Change {
  /// Reads a single record.
  ///
  /// Join it with ``Replica/apply(_:reporting:)`` as a delta of one record.
  ///
  /// - Throws: ``WireError``, with the place and what should have been there.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    let message = try EncodedMessage(checking: Array(bytes), as: .record)
    self = Delta(message).changes[0]
  }

  /// The record as bytes, with its fields and their clocks.
  public func encoded() -> [UInt8] {
    MessageWriter([self], [:], as: .record).out.sealed()
  }
}

extension Replica {
  /// A record with all of its fields, to be sent or stored by itself.
  ///
  /// - Returns: `nil` if the replica has never heard of the record.
  public func change(of id: RecordID) -> Delta.Change? {
    stored.positions[id].map { stored.change(at: $0) }
  }
}

extension StoredReplica {
  /// The record at a position, with all of its fields.
  func change(at position: Int) -> Delta.Change {
    let record = records[position]
    let fields = record.slots.map { (names.keys[Int($0.name)], $0.state) }
    return Delta.Change(
      id: record.id, fields: Dictionary(uniqueKeysWithValues: fields))
  }
}
