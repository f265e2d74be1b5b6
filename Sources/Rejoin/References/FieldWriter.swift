// SPDX-License-Identifier: Apache-2.0

/// Writes fields, which refer to the devices and saves of a message by index.
package struct FieldWriter {
  var out: WireWriter
  var saves = SaveIndex()
  /// The index of the save that was referred to last.
  var last = -1

  /// Whether a rest of the clock follows the store that is being written.
  var hasRemainder = false
  /// The devices whose part of a fragment continues what the receiver has, or
  /// `nil` for a whole field.
  var continued: Set<DeviceID>?
  /// The saves that the fields and the existence of the record have seen in the
  /// message.
  ///
  /// It is set before marks of deletions are written.
  var recordClock = VectorClock()

  init(_ out: WireWriter) { self.out = out }

  /// Writes the first number of a store.
  mutating func head(_ content: some BinaryInteger) {
    out.varint(UInt64(content) << 1 | (hasRemainder ? 1 : 0))
  }

  /// Returns the distance to a save from the one referred to last.
  ///
  /// Within a field, references ascend, so that only the first needs a sign.
  mutating func distance(to place: Int, isFirst: Bool) -> UInt64 {
    defer { last = place }
    return isFirst
      ? Int64(place - last - 1).zigzag : UInt64(place - last - 1)
  }

  /// Writes the rest of a clock, beyond the dots in a store.
  mutating func write(_ rest: [VectorClock.Entry], beyond dots: VectorClock) {
    out.varint(rest.count)
    var next = 0
    for entry in rest {
      let line = saves.number(of: entry.device)
      out.varint(line - next)
      out.varint(entry.count - dots[entry.device] - 1)
      next = line + 1
    }
  }

  /// Writes a clock of devices in the message.
  mutating func write(_ clock: VectorClock) {
    out.varint(clock.entries.count)
    var next = 0
    for entry in clock.entries {
      let line = saves.number(of: entry.device)
      out.varint(line - next)
      out.varint(entry.count)
      next = line + 1
    }
  }
}
