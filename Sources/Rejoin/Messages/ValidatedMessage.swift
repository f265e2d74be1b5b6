// SPDX-License-Identifier: Apache-2.0

/// A message with validated bytes.
///
/// Its bytes cannot cause an error when it is read.
package struct ValidatedMessage: Sendable {
  package let bytes: [UInt8]
  package let head: MessageHead

  /// Validates the bytes of a message.
  package init(
    _ bytes: [UInt8], as kinds: [WireKind]
  ) throws(WireError) {
    head = try withBytes(of: bytes) { bytes throws(WireError) in
      try RecordReader(validating: bytes, as: kinds).head
    }
    self.bytes = bytes
  }

  /// Creates a message from the bytes that a writer just wrote.
  init(_ bytes: [UInt8], _ head: MessageHead) {
    (self.bytes, self.head) = (bytes, head)
  }

  /// Calls `body` with a reader at the first record.
  package func read<Result>(
    _ body: (inout RecordReader) -> Result
  ) -> Result {
    bytes.withUnsafeBytes {
      var records = RecordReader($0, head)
      return body(&records)
    }
  }
}

/// The properties of a validated message, except its records.
package struct MessageHead: Sendable {
  package let kind: WireKind
  /// The devices, saves and intervals.
  fileprivate(set) var saves = SaveTable()
  /// The records that a delta covers, or `nil` for all records.
  fileprivate(set) var range: RecordRange?
  let entityCount: Int
  fileprivate(set) var recordCount = 0
  fileprivate(set) var fieldCount = 0
  /// The offset of the first entity.
  package let start: Int
}

/// Reads the records of a message.
///
/// A message that is known to be valid causes no errors. Any other message is
/// validated while it is read. After a failure no more records follow, and
/// ``finish(_:)`` throws the error.
package struct RecordReader {
  package private(set) var head: MessageHead
  private var reader: MessageReader
  private var isValid: Bool
  private var failure: WireError?
  /// The first record of a message that is not known to be valid.
  private var first: RecordID?

  /// Opens a message that is not known to be valid.
  ///
  /// - Parameter table: The table of a message that may have the same entity.
  init(
    opening bytes: UnsafeRawBufferPointer, as kinds: [WireKind],
    isBuilding: Bool = true, after table: consuming EntityTable = EntityTable()
  ) throws(WireError) {
    // A reader that is initialized in one step is not copied for a failure.
    var bytes = try WireReader(opening: bytes, as: kinds)
    let (devices, entities) = try bytes.pair()
    reader = MessageReader(
      try FieldReader(bytes, devices: devices, isBuilding: isBuilding),
      entities: entities, table: table)
    head = MessageHead(
      kind: bytes.kind, entityCount: entities,
      start: reader.fields.bytes.offset)
    isValid = false
  }

  /// Validates a message and returns to the first record.
  ///
  /// - Parameter section: A closure that reads a section of a stored replica.
  init(
    validating bytes: UnsafeRawBufferPointer, as kinds: [WireKind],
    section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) {
    try self.init(opening: bytes, as: kinds, isBuilding: false)
    while nextEntity() {
      while nextRecord() {
        while nextField() != nil {}
      }
    }
    try finish(section)
    isValid = true
    reader.goBack(to: head.start, entities: head.entityCount)
  }

  /// Reads the part after the records.
  ///
  /// - Throws: ``WireError`` if any part of the message is not valid.
  mutating func finish(
    _ section: (WireSection, inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    if let failure { throw failure }
    try reader.fields.checkUses()
    // The table still has the last record.
    let ends = first.map { [$0, table.record] } ?? []
    try reader.fields.bytes.sections { id, part throws(WireError) in
      if id == .range {
        let start = part.offset
        let range = try part.range()
        try part.require(
          ends.allSatisfy(range.contains), .invalid,
          "a range that contains all records", at: start)
        head.range = range
      } else {
        try section(id, &part)
      }
    }
    head.saves = reader.fields.saves
  }

  /// Creates a reader of a validated message.
  init(_ bytes: UnsafeRawBufferPointer, _ head: MessageHead) {
    self.head = head
    reader = MessageReader(
      FieldReader(
        WireReader(bytes, of: head.kind, from: head.start), head.saves),
      entities: head.entityCount)
    isValid = true
  }

  /// The number of bytes that were read so far.
  package var offset: Int { reader.fields.bytes.offset }

  /// The current entity, with the key and the fields of the record.
  var table: EntityTable {
    _read { yield reader.table }
  }

  /// Moves to the next entity, and returns whether it exists.
  package mutating func nextEntity() -> Bool {
    do { return failure == nil ? try reader.nextEntity() : false } catch {
      return fail(error, false)
    }
  }

  /// Moves to the entity's next record, and returns whether it exists.
  package mutating func nextRecord() -> Bool {
    do {
      guard failure == nil, try reader.nextRecord() else { return false }
      if !isValid {
        if head.recordCount == 0 { first = table.record }
        head.recordCount += 1
        head.fieldCount += reader.table.fields.count
      }
      return true
    } catch { return fail(error, false) }
  }

  /// Reads the next field of the record, with its index in the entity's table.
  package mutating func nextField() -> (index: Int, state: FieldState)? {
    do { return failure == nil ? try reader.nextField() : nil } catch {
      return fail(error, nil)
    }
  }

  private mutating func fail<Result>(
    _ error: WireError, _ result: Result
  ) -> Result {
    precondition(!isValid, "validated bytes could not be read: \(error)")
    failure = error
    return result
  }

  /// Whether any field was a fragment, after all fields were read.
  var hasFragments: Bool { reader.fields.hasFragments }

  /// Whether the last field that was read is only a fragment.
  var isAtFragment: Bool { reader.isAtFragment }

  /// Returns the fragment of a state that was just read, or `nil` for a whole
  /// field.
  func fragment(_ state: FieldState) -> Fragment? {
    reader.isAtFragment ? Fragment(state, from: reader.fields) : nil
  }
}

/// The sections after the records of a message.
enum WireSection: Int {
  case range = 1
  case device
  case stability
  case servers
  case digests
  case horizons
  case prefixes
}

extension WireWriter {
  /// Writes the number, the length and the content of a section.
  mutating func section(_ id: WireSection, _ content: WireWriter) {
    pair(id.rawValue, content.bytes.count)
    raw(content.bytes)
  }
}

extension WireReader {
  /// Reads the sections up to the end of the message.
  ///
  /// - Parameter body: A closure that reads the content of a section to its
  ///   end.
  mutating func sections(
    _ body: (WireSection, inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    var previous = 0
    while remaining > 0 {
      let start = offset
      let (id, count) = try pair()
      try require(id > previous, .notCanonical, "sorted sections", at: start)
      previous = id
      guard let section = WireSection(rawValue: id),
        kind == .stored && section != .range
          || kind == .delta && section == .range
      else {
        throw error(
          .invalid, "a section that a \(kind.name) can have", at: start)
      }
      try part(count) { part throws(WireError) in try body(section, &part) }
    }
  }
}
