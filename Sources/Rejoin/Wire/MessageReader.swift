// SPDX-License-Identifier: Apache-2.0

/// Reads a message record by record.
///
/// It accepts only what ``MessageWriter`` writes, so that messages are equal if
/// and only if their bytes are.
struct MessageReader {
  var reader: WireReader
  var saves: SaveTable
  /// The index of the save that was referred to last.
  var last = -1
  /// The greatest sequence number of each device in the store that is being
  /// read.
  var dots: StoreDots
  /// The greatest sequence number of each device that any field has seen.
  private(set) var latest: [UInt64]

  private let deviceCount: Int
  private let deviceOffset: Int
  private var entitiesLeft: Int
  private var table = EntityTable()
  private(set) var recordCount = 0
  /// The number of bytes in the tables of entities and fields, and in record
  /// keys.
  private(set) var sizes = (tables: 0, keys: 0)
  var hasIntervals: Bool { saves.hasIntervals }

  /// Reads up to the first record.
  ///
  /// - Parameter isNaming: Whether to retain device IDs.
  init(
    _ reader: consuming WireReader, isNaming: Bool
  ) throws(WireError) {
    let counts = try reader.pair()
    deviceCount = counts.low
    entitiesLeft = counts.high
    deviceOffset = reader.offset
    saves = try SaveTable(counts.low, from: &reader, isNaming: isNaming)
    dots = StoreDots(count: counts.low)
    latest = (0..<saves.lineCount).map { [saves] line in
      let places = saves.places(of: line)
      return places.isEmpty
        ? 0 : saves.number(at: places.upperBound - 1, of: line)
    }
    self.reader = reader
  }

  /// Reads a record.
  ///
  /// - Returns: Its ID; `nil` if there are no more records.
  mutating func next(
    into sink: inout some FieldSink
  ) throws(WireError) -> RecordID? {
    if table.isFinished {
      try table.checkUse(reader)
      guard entitiesLeft > 0 else { return nil }
      entitiesLeft -= 1
      let start = reader.offset
      try table.begin(&reader)
      sizes.tables += reader.offset - start
    }
    let beginning = reader.offset
    let key = try table.key(&reader)
    let start = reader.offset
    sizes.keys += start - beginning
    let head = try reader.varint()
    guard let form = RecordForm(rawValue: head >> 2 & 3) else {
      throw reader.error(.invalid, "a record of form 0 to 2", at: start)
    }
    table.isFinished = head & 1 != 0
    try table.layout(isSame: head & 2 != 0, &reader)
    if form == .full {
      guard head >> 4 == 0 else {
        throw reader.error(
          .notCanonical, "no distance in the full form of a record", at: start)
      }
      try full(into: &sink, start)
    } else {
      let first = try place(
        last + 1, movedBy: Int64(zigzag: head >> 4), at: start)
      try short(form, first, into: &sink, start)
    }
    recordCount += 1
    return RecordID(table.entity, key)
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

  /// Records that a field has seen a save.
  mutating func see(_ line: Int, _ sequence: UInt64) {
    saves.use(line: line)
    latest[line] = max(latest[line], sequence)
  }

  private mutating func full(
    into sink: inout some FieldSink, _ start: Int
  ) throws(WireError) {
    var short = ShortForm()
    if table.hasExistence {
      short.note(
        existence: try field(.existence, into: &sink))
    }
    for place in table.fields {
      let key = try table.key(at: place, reader)
      short.note(field: try field(key, into: &sink))
    }
    guard !short.isPossible else {
      throw reader.error(
        .notCanonical, "the short form of the record", at: start)
    }
  }

  private mutating func short(
    _ form: RecordForm, _ first: Int, into sink: inout some FieldSink,
    _ start: Int
  ) throws(WireError) {
    let count = table.fields.count
    let end = form == .same ? first : first + count - 1
    guard form == .same || count > 1, end < saves.count else {
      throw reader.error(
        .notCanonical,
        "consecutive saves only for several fields, and within the "
          + "\(saves.count) saves",
        at: start)
    }
    for (i, place) in table.fields.enumerated() {
      let key = try table.key(at: place, reader)
      guard key.kind == .register else {
        throw reader.error(
          .invalid, "only registers in the short form of a record", at: start)
      }
      let value = try reader.value()
      try write(
        value, of: key, at: form == .same ? first : first + i, into: &sink)
    }
    if table.hasExistence {
      try write(.bool(true), of: .existence, at: end, into: &sink)
    }
    last = end
  }

  /// Passes on a field that consists of one write, with its save's timestamp.
  private mutating func write(
    _ value: Value?, of key: FieldKey, at place: Int,
    into sink: inout some FieldSink
  ) throws(WireError) {
    guard let time = saves.stamp(place, extra: 0) else {
      throw reader.error(.invalid, "a save with a timestamp")
    }
    let (dot, line) = saves.dot(at: place)
    see(line, dot.sequence)
    sink.begin(key)
    sink.write(Stamped(value, at: time), at: dot)
    sink.end(VectorClock(dot))
  }

  /// Reads the sections after the records.
  ///
  /// - Parameter section: Reads a section.
  mutating func finish(
    section: (WireSection, inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    try table.checkUse(reader)
    try saves.checkUse(reader)
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
      try reader.part(count) { part throws(WireError) in
        try section(known, &part)
      }
    }
  }

  /// A reader of the intervals, back at the device block.
  func intervals() -> IntervalReader {
    var reader = reader
    reader.goBack(to: deviceOffset)
    return IntervalReader(reader, count: deviceCount, saves)
  }

  /// A reader of the devices, which retains nothing else of the message.
  func devices() -> DeviceReader {
    var reader = reader
    reader.goBack(to: deviceOffset)
    return DeviceReader(reader, latest)
  }
}

/// Whether a record in the full form could have been written in a short one.
private struct ShortForm {
  private var places: [Int] = []
  private var existence: Int?
  private var isPlain = true

  mutating func note(existence place: OnlyWrite?) {
    guard let place, place.value == .bool(true) else {
      return isPlain = false
    }
    existence = place.place
  }

  mutating func note(field place: OnlyWrite?) {
    guard let place else { return isPlain = false }
    if isPlain { places.append(place.place) }
  }

  var isPossible: Bool {
    guard isPlain else { return false }
    if let existence, existence != places.last ?? existence { return false }
    guard let first = places.first else { return true }
    return places.allSatisfy { $0 == first }
      || places.enumerated().allSatisfy { $1 == first + $0 }
  }
}

/// The write of a register that consists of just that: the index of its save,
/// whose timestamp it has, and its value.
struct OnlyWrite {
  let place: Int
  let value: Value?
}

extension MessageReader {
  /// For a message of the kind `record`, requires exactly one record and no
  /// intervals.
  func checkCounts() throws(WireError) {
    guard reader.kind == .record else { return }
    guard recordCount == 1, !hasIntervals else {
      throw reader.error(.invalid, "exactly one record and no intervals")
    }
  }
}
