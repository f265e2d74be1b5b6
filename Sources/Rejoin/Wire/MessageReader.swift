// SPDX-License-Identifier: Apache-2.0

/// Reads a message: its devices, and then its records, as often as needed.
///
/// It accepts only what ``MessageWriter`` writes, so that messages are equal if
/// and only if their bytes are.
package struct MessageReader {
  package internal(set) var reader: WireReader
  var saves: SaveTable
  /// The index of the save that was referred to last.
  var last = -1
  /// The greatest sequence number of each device in the store that is being
  /// read.
  var dots: StoreDots
  /// The greatest sequence number of each device in the clocks of the record that is
  /// being read, without fragments.
  ///
  /// It is kept up only if the existence of the record follows its fields.
  var recordDots: StoreDots
  var table = EntityTable()
  /// The record that is being read.
  var record = RecordCursor()
  /// What the last field is relative to, if it is a fragment.
  var fragment: FragmentBasis?
  /// Whether states are built, or the message is only validated.
  private(set) var isBuilding = false
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
    (self.reader, self.saves) = (reader, saves)
    (dots, recordDots) = (
      StoreDots(count: counts.low), StoreDots(count: counts.low)
    )
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
    reader.goBack(to: start)
    self.isBuilding = isBuilding
    table.reset()
    (last, entitiesLeft) = (-1, entityCount)
    (recordCount, fieldCount, sizes) = (0, 0, (0, 0))
  }

  /// Reads the table of the next entity.
  ///
  /// - Returns: Whether there is another.
  mutating func nextEntity() throws(WireError) -> Bool {
    try table.checkUse(reader)
    guard entitiesLeft > 0 else { return false }
    entitiesLeft -= 1
    let start = reader.offset
    try table.begin(&reader)
    sizes.tables += reader.offset - start
    return true
  }

  /// Counts a record and the bytes of its key.
  mutating func noteRecord(keyFrom start: Int) {
    recordCount += 1
    sizes.keys += reader.offset - start
  }

  /// Counts a field.
  mutating func noteField() { fieldCount += 1 }

  /// Reads the sections after the records, all of which have been read.
  mutating func readSections(
    _ section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) -> Histories {
    try saves.checkUse(reader)
    var histories = Histories()
    var previous = 0
    while reader.remaining > 0 {
      let start = reader.offset
      let (id, count) = try reader.pair()
      guard id > previous else {
        throw reader.error(.notCanonical, "sorted sections", at: start)
      }
      previous = id
      guard let known = WireSection(rawValue: id), known.isPart(of: reader)
      else {
        throw reader.error(
          .invalid, "a section that a \(reader.kind.name) can have", at: start)
      }
      let saves = saves
      try reader.part(count) { part throws(WireError) in
        switch known {
        case .histories: try histories.readDigests(from: &part, saves)
        case .forks: try histories.readForks(from: &part, saves)
        default: try section(known, &part)
        }
      }
    }
    guard
      reader.kind != .record && reader.kind != .patch
        || recordCount == 1 && saves.intervals.isEmpty
    else {
      throw reader.error(.invalid, "exactly one record and no intervals")
    }
    return histories
  }

  /// The index of the save at a distance from another.
  func place(
    _ place: Int, movedBy distance: Int64, at start: Int
  ) throws(WireError) -> Int {
    let (result, overflow) = Int64(place).addingReportingOverflow(distance)
    guard !overflow, result >= 0, result < Int64(saves.count) else {
      throw reader.error(
        .invalid, "a reference to one of \(saves.count) saves", at: start)
    }
    return Int(result)
  }
}
