// SPDX-License-Identifier: Apache-2.0

/// Reads a message from beginning to end.
struct MessageScan {
  private(set) var message: MessageReader
  private var intervals: IntervalReader?

  /// Reads up to the first record.
  ///
  /// - Parameter isNaming: Whether to retain device IDs.
  init(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind],
    isNaming: Bool = true
  ) throws(WireError) {
    message = try MessageReader(
      try WireReader(opening: bytes, as: kinds), isNaming: isNaming)
  }

  /// Validates a whole message.
  ///
  /// - Returns: The clock of all saves that any field has seen.
  static func check(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) -> VectorClock {
    try look(bytes, as: kinds).clock()
  }

  /// A function of its own, so that the tables of the scan are freed before the
  /// clock is allocated.
  private static func look(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) -> DeviceReader {
    var scan = try MessageScan(bytes, as: kinds, isNaming: false)
    try scan.skipRecords()
    try scan.finish()
    while try scan.intervals?.next() != nil {}
    return scan.message.devices()
  }

  /// Reads every record and discards it.
  mutating func skipRecords() throws(WireError) {
    var nothing = Discard()
    while try message.next(into: &nothing) != nil {}
  }

  /// Calls `change` with each record and then `interval` with each interval.
  mutating func visit(
    change: (RecordChange) -> Void,
    interval: (DeviceID, SaveInterval) -> Void,
    section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) {
    while true {
      var builder = FieldBuilder()
      guard let id = try message.next(into: &builder) else { break }
      change(RecordChange(id: id, fields: builder.fields))
    }
    try finish(section: section)
    while let (device, saves) = try intervals?.next() {
      interval(device, saves)
    }
  }

  /// Reads the sections and goes back to the intervals.
  mutating func finish(
    section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) {
    var parts = message.intervals()
    try message.finish { id, part throws(WireError) in
      switch id {
      case .histories: parts.histories = part
      case .forks: parts.forks = part
      default: return try section(id, &part)
      }
      _ = try part.take(part.remaining)
    }
    try message.checkCounts()
    intervals = parts
  }
}
