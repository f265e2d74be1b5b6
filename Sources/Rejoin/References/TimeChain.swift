// SPDX-License-Identifier: Apache-2.0

/// A sequence of timestamps, encoded as differences.
///
/// Milliseconds and logical time are separate. To keep the first difference
/// short, it starts at the beginning of 2024.
struct TimeChain {
  private var milliseconds: Int64 = 1_704_067_200_000

  /// Writes a timestamp, which may be zero.
  mutating func write(_ time: UInt64, to writer: inout WireWriter) {
    if time == 0 { return writer.varint(0 as UInt64) }
    let new = Int64(time >> 16)
    writer.varint((new - milliseconds).zigzag + 1)
    writer.varint(time & 0xffff)
    milliseconds = new
  }

  /// Reads a timestamp, which may be zero.
  mutating func read(
    from reader: inout WireReader
  ) throws(WireError) -> UInt64 {
    let start = reader.offset
    let code = try reader.varint()
    if code == 0 { return 0 }
    let (new, overflow) =
      milliseconds.addingReportingOverflow(Int64(zigzag: code - 1))
    let logical = try reader.varint()
    try reader.require(
      !overflow && new >= 0 && new < 1 << 48 && logical <= 0xffff
        && (new > 0 || logical > 0), .invalid,
      "a timestamp with 48 bits of milliseconds and 16 of logical time",
      at: start)
    milliseconds = new
    return UInt64(new) << 16 | logical
  }
}
