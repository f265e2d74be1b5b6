// SPDX-License-Identifier: Apache-2.0

// Each entry: the reference to its save, with a flag for a decision, and its
// sums. With the flag, two parts follow: how many saves earlier the decided
// changes end, and the decision.
extension PNCounter {
  package func write(to writer: inout FieldWriter) {
    writer.head(entries.count)
    for (i, entry) in entries.enumerated() {
      let decision = canceled.entry(of: entry.device)?.decision
      writer.reference(
        to: Dot(entry.device, entry.sequence), isFirst: i == 0,
        flags: (decision == nil ? 0 : 1, bits: 1))
      writer.out.varint(entry.increments)
      writer.out.varint(entry.decrements)
      guard let decision else { continue }
      writer.out.varint(entry.sequence - decision.decided)
      writer.out.cancellation(decision)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 3, "entries")
    var (entries, canceled) = ([] as [Entry], [] as [Canceled])
    var lastLine = -1
    for i in 0..<reader.count {
      let start = reader.bytes.offset
      let (place, isDecided) = try reader.reference(isFirst: i == 0, flags: 1)
      let (dot, line) = reader.storeDot(at: place)
      try reader.bytes.require(
        line > lastLine, .invalid, "sorted entries, one for each device",
        at: start)
      lastLine = line
      let entry = Entry(
        device: dot.device, sequence: dot.sequence,
        increments: try reader.bytes.varint(),
        decrements: try reader.bytes.varint())
      let decision = isDecided == 0 ? nil : try decision(of: dot, from: &reader)
      guard reader.isBuilding else { continue }
      entries.append(entry)
      if let decision {
        canceled.append(Canceled(device: dot.device, decision: decision))
      }
    }
    return PNCounter(entries: entries, canceled: canceled)
  }

  /// Reads the decision on the changes of a device up to `last`, or earlier
  /// ones.
  private static func decision(
    of last: Dot, from reader: inout FieldReader
  ) throws(WireError) -> Cancellation {
    reader.fragment.isWhole = true
    let start = reader.bytes.offset
    let distance = try reader.bytes.varint()
    try reader.bytes.require(
      distance < last.sequence, .invalid, "a decision on at least one change",
      at: start)
    let decision = try reader.bytes.cancellation(of: last.sequence - distance)
    try reader.bytes.require(
      Entry.isSum(decision.sum), .invalid, "a sum of increments and decrements",
      at: start)
    return decision
  }
}
