// SPDX-License-Identifier: Apache-2.0

/// The sections after the records of a message.
enum WireSection: Int {
  case range = 1
  case device
  case stability
  case servers
  case digests
  case horizons
  case prefixes
}

extension WireWriter {
  /// Writes the number, the length and the content of a section.
  mutating func section(_ id: WireSection, _ content: WireWriter) {
    pair(id.rawValue, content.bytes.count)
    raw(content.bytes)
  }
}

extension WireReader {
  /// Reads the sections up to the end of the message.
  ///
  /// - Parameter body: A closure that reads the content of a section to its
  ///   end.
  mutating func sections(
    _ body: (WireSection, inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    var previous = 0
    while remaining > 0 {
      let start = offset
      let (id, count) = try pair()
      try require(id > previous, .notCanonical, "sorted sections", at: start)
      previous = id
      guard let section = WireSection(rawValue: id),
        kind == .stored && section != .range
          || kind == .delta && section == .range
      else {
        throw error(
          .invalid, "a section that a \(kind.name) can have", at: start)
      }
      try part(count) { part throws(WireError) in try body(section, &part) }
    }
  }
}
