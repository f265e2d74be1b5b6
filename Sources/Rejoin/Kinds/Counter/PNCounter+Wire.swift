// SPDX-License-Identifier: Apache-2.0

// The number of entries, and each entry: the distance to its save, the form of its
// cancelled sums, and both sums.
extension PNCounter {
  /// How much of an entry is cancelled.
  private enum Form: UInt64 {
    case nothing
    case everything
    /// Smaller sums, which follow.
    case part
  }

  package func write(to writer: inout FieldWriter) {
    writer.head(entries.count)
    for (i, entry) in entries.enumerated() {
      let place = writer.saves.find(Dot(entry.device, entry.sequence)).place
      let cancelled = cancelled.entry(of: entry.device)
      let form: Form =
        cancelled == nil ? .nothing : cancelled == entry ? .everything : .part
      writer.out.varint(
        writer.distance(to: place, isFirst: i == 0) << 2 | form.rawValue)
      writer.out.varint(entry.increments)
      writer.out.varint(entry.decrements)
      guard form == .part, let cancelled else { continue }
      writer.out.varint(entry.sequence - cancelled.sequence)
      writer.out.varint(cancelled.increments)
      writer.out.varint(cancelled.decrements)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    var (entries, cancelled) = ([] as [Entry], [] as [Entry])
    var lastLine = -1
    for i in 0..<(try reader.count(reader.head, size: 3, "items")) {
      let start = reader.bytes.offset
      let code = try reader.bytes.varint()
      let place = try reader.reference(code >> 2, isFirst: i == 0, at: start)
      let (dot, line) = reader.dot(at: place)
      guard line > lastLine else {
        throw reader.bytes.error(
          .notCanonical, "sorted entries, one per device", at: start)
      }
      lastLine = line
      let entry = Entry(
        device: dot.device, sequence: dot.sequence,
        increments: try reader.bytes.varint(),
        decrements: try reader.bytes.varint())
      guard let form = Form(rawValue: code & 3) else {
        throw reader.bytes.error(
          .invalid, "a counter entry of form 0 to 2", at: start)
      }
      let part = form == .part ? try entry.readCancelled(from: &reader) : entry
      if form != .nothing { reader.isWhole = true }
      guard reader.isBuilding else { continue }
      entries.append(entry)
      if form != .nothing { cancelled.append(part) }
    }
    return PNCounter(entries: entries, cancelled: cancelled)
  }
}

extension PNCounter.Entry {
  /// Reads the sums of this entry that are cancelled.
  fileprivate func readCancelled(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    let start = reader.bytes.offset
    let back = try reader.bytes.varint()
    guard back < sequence else {
      throw reader.bytes.error(
        .invalid, "a sequence number from 1 to \(sequence)", at: start)
    }
    let cancelled = Self(
      device: device, sequence: sequence - back,
      increments: try reader.bytes.varint(),
      decrements: try reader.bytes.varint())
    guard cancelled.isBefore(self) else {
      throw reader.bytes.error(
        .notCanonical, "cancelled sums less than those of the entry",
        at: start)
    }
    return cancelled
  }
}
