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

  /// Measures the sections of a message.
  ///
  /// Those after the records are not read.
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
    case .delta, .snapshot, .record, .stored, .patch:
      var message = try MessageReader(bytes, as: [kind])
      let start = message.fields.bytes.offset
      add("devices and saves", start - 3)
      try message.skipRecords()
      let (sizes, end) = (message.sizes, message.fields.bytes.offset)
      add("entities and field names", sizes.tables)
      add("record names", sizes.keys)
      add("fields", end - start - sizes.tables - sizes.keys)
      add("sections", message.fields.bytes.remaining)
    }
    add("checksum", WireChecksum.size)
  }

  private mutating func add(_ name: String, _ count: Int) {
    if count > 0 { sections.append(Section(name: name, byteCount: count)) }
  }
}
