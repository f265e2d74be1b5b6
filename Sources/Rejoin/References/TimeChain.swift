// SPDX-License-Identifier: Apache-2.0

/// Delta-encodes a sequence of timestamps, with milliseconds and logical time
/// apart.
///
/// The lowest two bits of a number are the form of the difference to the
/// previous timestamp. The first difference is to the beginning of 2024, which
/// keeps it short.
struct TimeChain {
  private var last = Timestamp(milliseconds: 1_704_067_200_000).rawValue

  private enum Form: UInt64 {
    /// A later logical time in the same millisecond.
    case later = 1
    /// Any millisecond, with a logical time of zero.
    case beginning
    /// Any other timestamp.
    case other
  }

  private var milliseconds: Int64 { Int64(last >> 16) }
  private var logical: UInt64 { last & 0xffff }

  /// Writes a timestamp; `nil` for a save without one.
  mutating func write(_ time: UInt64?, to writer: inout WireWriter) {
    guard let time else { return writer.varint(0 as UInt64) }
    let (ms, now) = (Int64(time >> 16), time & 0xffff)
    let moved = (ms - milliseconds).zigzag << 2
    if ms == milliseconds, now > logical {
      writer.varint((now - logical - 1) << 2 | Form.later.rawValue)
    } else if now == 0 {
      writer.varint(moved | Form.beginning.rawValue)
    } else {
      writer.varint(moved | Form.other.rawValue)
      writer.varint(now)
    }
    last = time
  }

  /// Reads a timestamp; `nil` for a save without one.
  mutating func read(
    from reader: inout WireReader
  ) throws(WireError) -> UInt64? {
    let start = reader.offset
    let head = try reader.varint()
    if head == 0 { return nil }
    var (ms, now) = (milliseconds, 0 as UInt64)
    switch Form(rawValue: head & 3) {
    case .later:
      now = logical + 1 + head >> 2
    case .beginning:
      ms = try moved(by: head >> 2, reader, start)
    case .other:
      ms = try moved(by: head >> 2, reader, start)
      now = try reader.varint()
      guard now > 0, ms != milliseconds || now <= logical else {
        throw reader.error(
          .notCanonical, "the shortest form of the timestamp", at: start)
      }
    case nil:
      throw reader.error(.invalid, "a timestamp of form 1 to 3", at: start)
    }
    guard now <= 0xffff else {
      throw reader.error(.invalid, "a logical time of 16 bits", at: start)
    }
    last = UInt64(ms) << 16 | now
    return last
  }

  private func moved(
    by zigzag: UInt64, _ reader: WireReader, _ start: Int
  ) throws(WireError) -> Int64 {
    // The operands have 62 and 48 bits: their sum cannot overflow.
    let ms = milliseconds + Int64(zigzag: zigzag)
    guard ms >= 0, ms < 1 << 48 else {
      throw reader.error(
        .invalid, "a timestamp with 48 bits of milliseconds", at: start)
    }
    return ms
  }
}
