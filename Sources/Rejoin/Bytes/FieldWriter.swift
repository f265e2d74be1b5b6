// SPDX-License-Identifier: Apache-2.0

/// Writes fields, which refer to the devices and saves of a message by index.
package struct FieldWriter {
  var out: WireWriter
  let kind: WireKind
  let saves: SaveTable
  /// The index of the last save that a field referred to.
  var last = -1

  /// The current fragment, or `nil` for a whole field.
  private(set) var fragment: FragmentParts?
  private var hasRemainder = false
  /// The last device that was looked up, because fields of one device come in
  /// runs.
  private var current = 0
  /// The last save that was found, because fields of one save come in runs.
  private var found: (dot: Dot, index: Int)?

  init(_ kind: WireKind, _ saves: SaveTable) {
    (out, self.kind, self.saves) = (WireWriter(kind), kind, saves)
  }

  /// Starts a field.
  mutating func begin(_ fragment: FragmentParts?, hasRemainder: Bool) {
    (self.fragment, self.hasRemainder) = (fragment, hasRemainder)
  }

  /// Writes the number of items in a store.
  mutating func head(_ count: Int) {
    out.varint(
      UInt64(count) << 2 | (fragment == nil ? 0 : 2) | (hasRemainder ? 1 : 0))
  }

  /// Returns the index of a device.
  mutating func line(of device: DeviceID) -> Int {
    if saves.lines[current].device != device {
      current = saves.lines.position(of: device)
    }
    return current
  }

  /// Returns the index of a save.
  mutating func index(of dot: Dot) -> Int {
    if let found, found.dot == dot { return found.index }
    let index = saves.index(of: dot.sequence, of: line(of: dot.device))
    found = (dot, index)
    return index
  }

  /// Writes the distance to a save from the last reference.
  ///
  /// References ascend within a field, so only the first needs a sign.
  ///
  /// - Parameter flags: The flags, and the number of low bits that they take.
  /// - Returns: The timestamp of the save in the message.
  @discardableResult
  mutating func reference(
    to dot: Dot, isFirst: Bool, flags: (UInt64, bits: UInt64) = (0, 0)
  ) -> UInt64 {
    let index = index(of: dot)
    let distance =
      isFirst ? Int64(index - last - 1).zigzag : UInt64(index - last - 1)
    last = index
    out.varint(distance << flags.bits | flags.0)
    return saves.saves[index].time
  }

  /// Writes the entries of a clock, each greater than the entry of `base`.
  mutating func entries(
    _ entries: [VectorClock.Entry], beyond base: VectorClock
  ) {
    out.varint(entries.count - 1)
    var next = 0
    for entry in entries {
      let line = line(of: entry.device)
      out.varint(line - next)
      out.varint(entry.count - base[entry.device] - 1)
      next = line + 1
    }
  }
}

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
