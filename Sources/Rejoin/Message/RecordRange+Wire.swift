// SPDX-License-Identifier: Apache-2.0

extension WireWriter {
  /// Writes both ends of a range.
  init(_ range: RecordRange) {
    self.init()
    value(range.after.map(Value.reference))
    value(range.through.map(Value.reference))
  }
}

extension WireReader {
  /// Reads a range with at least one end.
  mutating func range() throws(WireError) -> RecordRange {
    let start = offset
    let range = RecordRange(after: try recordID(), through: try recordID())
    try require(
      (range.after != nil || range.through != nil)
        && (range.through.map(range.contains) ?? true), .invalid,
      "a range of records with one end, or with two in order", at: start)
    return range
  }

  /// Reads a record ID, or `nil` for an unset value.
  mutating func recordID() throws(WireError) -> RecordID? {
    let start = offset
    switch try value() {
    case nil: return nil
    case .reference(let id) where id.key.utf8.count <= Limits.keyBytes:
      return id
    default:
      throw error(
        .invalid, "a record ID with a key of at most 1024 bytes, or nothing",
        at: start)
    }
  }
}
