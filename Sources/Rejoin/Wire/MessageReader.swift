// SPDX-License-Identifier: Apache-2.0

/// Reads a message: its devices, and then its records, as often as needed.
///
/// It accepts only what ``MessageWriter`` writes, so that messages are equal if
/// and only if their bytes are.
package struct MessageReader {
  package internal(set) var fields: FieldReader
  var table = EntityTable()
  /// The record that is being read.
  var record = RecordCursor()
  /// The number of bytes in the tables of entities and fields, and in record
  /// keys.
  package private(set) var sizes = (tables: 0, keys: 0)
  private(set) var fieldCount = 0
  private(set) var recordCount = 0

  private let entityCount: Int
  private let start: Int
  private var entitiesLeft = 0

  /// Reads up to the first record.
  package init(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) {
    // A reader that is complete at once is not copied for a failure.
    var reader = try WireReader(opening: bytes, as: kinds)
    let counts = try reader.pair()
    let saves = try SaveTable(counts.low, from: &reader)
    (entityCount, start) = (counts.high, reader.offset)
    fields = FieldReader(reader, saves)
  }

  /// Whether there are any records.
  var hasRecords: Bool { entityCount > 0 }

  /// Reads the whole message and builds nothing.
  ///
  /// - Parameter section: Reads a section that only stored replicas have.
  mutating func validate(
    section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) -> Histories {
    try skipRecords()
    return try readSections(section)
  }

  /// Reads every record and builds nothing.
  package mutating func skipRecords() throws(WireError) {
    begin(isBuilding: false)
    while try nextEntity() {
      while try nextRecord() {
        while try nextField() != nil {}
      }
    }
  }

  /// Goes back to the first record.
  mutating func begin(isBuilding: Bool) {
    fields.bytes.goBack(to: start)
    (fields.isBuilding, fields.last) = (isBuilding, -1)
    table.reset()
    entitiesLeft = entityCount
    (recordCount, fieldCount, sizes) = (0, 0, (0, 0))
  }

  /// Reads the table of the next entity.
  ///
  /// - Returns: Whether there is another.
  mutating func nextEntity() throws(WireError) -> Bool {
    try table.checkUse(fields.bytes)
    guard entitiesLeft > 0 else { return false }
    entitiesLeft -= 1
    let start = fields.bytes.offset
    try table.begin(&fields.bytes)
    sizes.tables += fields.bytes.offset - start
    return true
  }

  /// Counts a record and the bytes of its key.
  mutating func noteRecord(keyFrom start: Int) {
    recordCount += 1
    sizes.keys += fields.bytes.offset - start
  }

  /// Counts a field.
  mutating func noteField() { fieldCount += 1 }

  /// Reads the sections after the records, all of which have been read.
  mutating func readSections(
    _ section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) -> Histories {
    try fields.saves.checkUse(fields.bytes)
    var histories = Histories()
    var previous = 0
    while fields.bytes.remaining > 0 {
      let start = fields.bytes.offset
      let (id, count) = try fields.bytes.pair()
      guard id > previous else {
        throw fields.bytes.error(.notCanonical, "sorted sections", at: start)
      }
      previous = id
      guard let known = WireSection(rawValue: id),
        known.isPart(of: fields.bytes)
      else {
        throw fields.bytes.error(
          .invalid, "a section that a \(fields.bytes.kind.name) can have",
          at: start)
      }
      let saves = fields.saves
      try fields.bytes.part(count) { part throws(WireError) in
        switch known {
        case .histories: try histories.readDigests(from: &part, saves)
        case .forks: try histories.readForks(from: &part, saves)
        default: try section(known, &part)
        }
      }
    }
    guard
      fields.bytes.kind != .record && fields.bytes.kind != .patch
        || recordCount == 1 && fields.saves.intervals.isEmpty
    else {
      throw fields.bytes.error(.invalid, "exactly one record and no intervals")
    }
    return histories
  }
}
