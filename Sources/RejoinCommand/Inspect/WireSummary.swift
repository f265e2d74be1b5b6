// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The kind of a message, and the size of each of its parts.
struct WireSummary {
  /// A part of a message.
  struct Section {
    let name: String
    let byteCount: Int
  }

  let kind: WireKind
  /// The parts that are present, in their order in the message.
  private(set) var sections: [Section] = []

  /// Measures the parts of a message.
  init(of bytes: [UInt8]) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      try WireSummary(reading: bytes)
    }
  }

  private init(reading bytes: UnsafeRawBufferPointer) throws(WireError) {
    let reader = try WireReader(opening: bytes, as: WireKind.allCases)
    kind = reader.kind
    add("header", 3)
    switch kind {
    case .vectorClock, .replicaVersion: add("devices", reader.remaining)
    case .token: add("token", reader.remaining)
    case .undoStep: add("changes", reader.remaining)
    case .request, .answer, .object: add("content", reader.remaining)
    case .delta, .stored:
      let message = try ValidatedMessage(Array(bytes), as: [kind])
      add("devices and saves", message.head.start - 3)
      let sizes = message.read(WireSummary.sizes)
      add("entities and field names", sizes.tables)
      add("record keys and field lists", sizes.keys)
      add("fields", sizes.fields)
      let read = message.head.start + sizes.tables + sizes.keys + sizes.fields
      add("sections", bytes.count - WireChecksum.size - read)
    }
    add("checksum", WireChecksum.size)
  }

  /// How many bytes the parts of all records take.
  private static func sizes(
    of records: inout RecordReader
  ) -> (tables: Int, keys: Int, fields: Int) {
    var (tables, keys, fields) = (0, 0, 0)
    var last = records.offset
    func size() -> Int {
      defer { last = records.offset }
      return records.offset - last
    }
    while records.nextEntity() {
      tables += size()
      while records.nextRecord() {
        keys += size()
        while records.nextField() != nil {}
        fields += size()
      }
    }
    return (tables, keys, fields)
  }

  private mutating func add(_ name: String, _ count: Int) {
    if count > 0 { sections.append(Section(name: name, byteCount: count)) }
  }
}
