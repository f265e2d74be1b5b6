//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// Records and intervals as the bytes they came in, which have been looked at.
struct EncodedMessage: Sendable {
  let bytes: [UInt8]
  let kind: WireKind
  let version: WireVersion
  /// The greatest number of each device that is in the message.
  let latest: VectorClock

  /// Looks at all of a message.
  init(
    checking bytes: [UInt8], as kind: WireKind
  ) throws(WireError) {
    let (version, latest) = try bytes.withUnsafeBufferPointer {
      buffer throws(WireError) in
      try MessageScan.check(UnsafeRawBufferPointer(buffer), as: kind)
    }
    self.bytes = bytes
    self.kind = kind
    self.version = version
    self.latest = latest
  }

  /// Calls `change` with every record, in order, and then `interval` with the news
  /// of each device, in order.
  func visit(
    change: (Delta.Change) -> Void,
    interval: (DeviceID, Delta.Interval) -> Void
  ) {
    do throws(WireError) {
      try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
        var scan = try MessageScan(UnsafeRawBufferPointer(buffer), as: kind)
        try scan.visit(change: change, interval: interval)
      }
    } catch {
      preconditionFailure("bytes that have been looked at: \(error)")
    }
  }
}

/// Reads a message from beginning to end.
struct MessageScan {
  private var message: MessageReader
  private var intervals: IntervalReader?

  init(
    _ bytes: UnsafeRawBufferPointer, as kind: WireKind
  ) throws(WireError) {
    message = try MessageReader(try WireReader(opening: bytes, as: kind))
  }

  /// Looks at all of a message and keeps nothing.
  static func check(
    _ bytes: UnsafeRawBufferPointer, as kind: WireKind
  ) throws(WireError) -> (WireVersion, VectorClock) {
    var scan = try MessageScan(bytes, as: kind)
    var nothing = Discard()
    while try scan.message.next(into: &nothing) != nil {}
    try scan.finish()
    while try scan.intervals?.next() != nil {}
    return (scan.message.reader.version, scan.message.latestClock)
  }

  /// Calls `change` with every record and then `interval` with every interval.
  mutating func visit(
    change: (Delta.Change) -> Void,
    interval: (DeviceID, Delta.Interval) -> Void,
    section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) {
    while true {
      var builder = FieldBuilder()
      guard let id = try message.next(into: &builder) else { break }
      change(Delta.Change(id: id, fields: builder.fields))
    }
    try finish(section: section)
    while let (device, news) = try intervals?.next() { interval(device, news) }
  }

  private mutating func finish(
    section: (WireSection, inout WireReader) throws(WireError) -> Void = {
      _, part throws(WireError) in _ = try part.take(part.remaining)
    }
  ) throws(WireError) {
    var parts = message.intervals()
    try message.finish { id, part throws(WireError) in
      switch id {
      case .histories: parts.histories = part
      case .disputes: parts.disputes = part
      default: return try section(id, &part)
      }
      _ = try part.take(part.remaining)
    }
    try message.checkCounts()
    intervals = parts
  }
}
