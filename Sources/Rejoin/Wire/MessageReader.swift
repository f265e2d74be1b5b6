// SPDX-License-Identifier: Apache-2.0

/// Reads fields and intervals record by record.
///
/// It refuses whatever ``MessageWriter`` would have written in another way, so
/// that equal bytes and equal meaning are the same thing.
struct MessageReader {
  var reader: WireReader
  var saves: SaveTable
  /// The place of the save that was referred to last.
  var last = -1
  /// The greatest number of each device in the store that is being read.
  var dots: StoreDots
  /// The greatest number of each device that any field has seen.
  private(set) var latest: [UInt64]

  private let deviceCount: Int
  private let deviceOffset: Int
  private var entitiesLeft: Int
  private var table = EntityTable()
  private(set) var recordCount = 0
  /// How many bytes name entities and fields, and how many name records.
  private(set) var sizes = (tables: 0, keys: 0)
  var hasIntervals: Bool { saves.hasIntervals }

  /// Reads up to the first record.
  ///
  /// - Parameter isNaming: Whether what is read is kept, with its devices.
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
  /// - Returns: Its name; `nil` if there is none left.
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
      throw reader.error(.invalid, "a form of a record", at: start)
    }
    table.isFinished = head & 1 != 0
    try table.layout(isSame: head & 2 != 0, &reader)
    if form == .full {
      guard head >> 4 == 0 else {
        throw reader.error(.notCanonical, "no distance", at: start)
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

  /// A place at a distance from another.
  func place(
    _ place: Int, movedBy distance: Int64, at start: Int
  ) throws(WireError) -> Int {
    let (result, overflow) = Int64(place).addingReportingOverflow(distance)
    guard !overflow, result >= 0, result < Int64(saves.count) else {
      throw reader.error(.invalid, "one of the saves", at: start)
    }
    return Int(result)
  }

  /// Notes what a field has seen.
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
      throw reader.error(.notCanonical, "the short form of a record", at: start)
    }
  }

  private mutating func short(
    _ form: RecordForm, _ first: Int, into sink: inout some FieldSink,
    _ start: Int
  ) throws(WireError) {
    let count = table.fields.count
    let end = form == .same ? first : first + count - 1
    guard form == .same || count > 1, end < saves.count else {
      throw reader.error(.notCanonical, "another form of the record", at: start)
    }
    for (i, place) in table.fields.enumerated() {
      let key = try table.key(at: place, reader)
      guard key.kind == .register else {
        throw reader.error(.invalid, "registers only", at: start)
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

  /// A field that is one write of a save, with its time.
  private mutating func write(
    _ value: Value?, of key: FieldKey, at place: Int,
    into sink: inout some FieldSink
  ) throws(WireError) {
    guard let time = saves.stamp(place, extra: 0) else {
      throw reader.error(.invalid, "a save with a time")
    }
    let (dot, line) = saves.dot(at: place)
    see(line, dot.sequence)
    sink.begin(key)
    sink.write(Stamped(value, at: time), at: dot)
    sink.end(VectorClock(dot))
  }

  /// Reads what comes after the records.
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
        throw reader.error(.notCanonical, "sections in order", at: start)
      }
      previous = id
      guard let known = WireSection(rawValue: id), known.isPart(of: reader)
      else {
        throw reader.error(
          .invalid, "a section of a \(reader.kind.name)", at: start)
      }
      try reader.part(count) { part throws(WireError) in
        try section(known, &part)
      }
    }
  }

  /// Goes back to the devices, to read their intervals.
  func intervals() -> IntervalReader {
    var reader = reader
    reader.goBack(to: deviceOffset)
    return IntervalReader(reader, count: deviceCount, saves)
  }

  /// Goes back to the devices, and nothing else is kept of the message.
  func devices() -> DeviceReader {
    var reader = reader
    reader.goBack(to: deviceOffset)
    return DeviceReader(reader, latest)
  }
}

/// Whether a record that was read in full could have been said shortly.
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

/// A register's one write, where that is all there is to say of it.
struct OnlyWrite {
  let place: Int
  let value: Value?
}

extension MessageReader {
  /// Refuses a single record that is none, or brings news of devices.
  func checkCounts() throws(WireError) {
    guard reader.kind == .record else { return }
    guard recordCount == 1, !hasIntervals else {
      throw reader.error(.invalid, "one record, and no interval")
    }
  }
}
