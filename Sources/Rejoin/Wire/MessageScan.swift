// SPDX-License-Identifier: Apache-2.0

/// Reads a message from beginning to end.
struct MessageScan {
  private(set) var message: MessageReader
  private var intervals: IntervalReader?

  /// Reads up to the first record.
  ///
  /// - Parameter isNaming: Whether what is read is kept, with its devices.
  init(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind],
    isNaming: Bool = true
  ) throws(WireError) {
    message = try MessageReader(
      try WireReader(opening: bytes, as: kinds), isNaming: isNaming)
  }

  /// Looks at all of a message and keeps nothing but the greatest number of each
  /// device that is in it.
  static func check(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) -> VectorClock {
    try look(bytes, as: kinds).clock()
  }

  /// A function of its own: the tables of the scan are freed before the clock is
  /// made.
  private static func look(
    _ bytes: UnsafeRawBufferPointer, as kinds: [WireKind]
  ) throws(WireError) -> DeviceReader {
    var scan = try MessageScan(bytes, as: kinds, isNaming: false)
    try scan.skipRecords()
    try scan.finish()
    while try scan.intervals?.next() != nil {}
    return scan.message.devices()
  }

  /// Reads every record and keeps nothing.
  mutating func skipRecords() throws(WireError) {
    var nothing = Discard()
    while try message.next(into: &nothing) != nil {}
  }

  /// Calls `change` with every record and then `interval` with every interval.
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
    while let (device, news) = try intervals?.next() { interval(device, news) }
  }

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
