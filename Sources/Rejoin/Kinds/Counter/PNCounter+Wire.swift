// SPDX-License-Identifier: Apache-2.0

// Each entry: the reference to its save, with a flag for a canceled sum, and
// its sums. With the flag, three numbers follow: how many saves earlier the
// canceled sum ends, and its increments and decrements.
extension PNCounter {
  package func write(to writer: inout FieldWriter) {
    writer.head(entries.count)
    for (i, entry) in entries.enumerated() {
      let canceled = cancelled.entry(of: entry.device)
      writer.reference(
        to: Dot(entry.device, entry.sequence), isFirst: i == 0,
        flags: (canceled == nil ? 0 : 1, bits: 1))
      writer.out.varint(entry.increments)
      writer.out.varint(entry.decrements)
      guard let canceled else { continue }
      writer.out.varint(entry.sequence - canceled.sequence)
      writer.out.varint(canceled.increments)
      writer.out.varint(canceled.decrements)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 3, "entries")
    var (entries, cancelled) = ([] as [Entry], [] as [Entry])
    var lastLine = -1
    for i in 0..<reader.count {
      let start = reader.bytes.offset
      let (place, isCanceled) = try reader.reference(isFirst: i == 0, flags: 1)
      let (dot, line) = reader.storeDot(at: place)
      let entry = Entry(
        device: dot.device, sequence: dot.sequence,
        increments: try reader.bytes.varint(),
        decrements: try reader.bytes.varint())
      var canceled: Entry?
      if isCanceled != 0 {
        reader.fragment.isWhole = true
        canceled = Entry(
          device: dot.device,
          sequence: dot.sequence
            - min(try reader.bytes.varint(), dot.sequence),
          increments: try reader.bytes.varint(),
          decrements: try reader.bytes.varint())
      }
      try reader.bytes.require(
        line > lastLine
          && (canceled.map({ $0.sequence > 0 && !entry.isBefore($0) }) ?? true),
        .invalid,
        "sorted entries, one for each device, and canceled sums of the entry "
          + "or before it", at: start)
      lastLine = line
      guard reader.isBuilding else { continue }
      entries.append(entry)
      if let canceled { cancelled.append(canceled) }
    }
    return PNCounter(entries: entries, cancelled: cancelled)
  }
}
