// SPDX-License-Identifier: Apache-2.0

// An entity in a message starts with its name and the table of its records'
// fields. The existence of a record is one of these fields, with an empty name.
extension WireWriter {
  mutating func entity(_ name: String, _ keys: some Collection<FieldKey>) {
    pair(name.utf8.count, keys.count)
    text(name)
    for key in keys {
      pair(key.kind.order | (key.variant == nil ? 0 : 8), key.name.utf8.count)
      text(key.name)
      guard let variant = key.variant else { continue }
      varint(variant.utf8.count)
      text(variant)
    }
  }

  /// Writes the indices of a record's fields in the table.
  mutating func layout(_ indices: [Int32]) {
    pair(indices.count, Int(indices[0]))
    for i in indices.indices.dropFirst() {
      varint(Int(indices[i] - indices[i - 1]) - 1)
    }
  }

  /// Writes a record's key.
  ///
  /// It starts with the number of bytes that the key shares with the previous
  /// key, at most ``Limits/sharedBytes``. The other bytes follow.
  mutating func key(_ key: String, after previous: String?) {
    var (key, previous) = (key, previous ?? "")
    key.withUTF8 { key in
      previous.withUTF8 { previous in
        let most = min(key.count, previous.count, Limits.sharedBytes)
        var shared = 0
        while shared < most, key[shared] == previous[shared] { shared += 1 }
        pair(shared, key.count - shared)
        raw(UnsafeBufferPointer(rebasing: key[shared...]))
      }
    }
  }
}

/// The current entity of a message, with the key and the fields of the current
/// record.
struct EntityTable {
  private(set) var name = ""
  struct Column {
    let key: FieldKey
    /// Whether any record has the field.
    fileprivate(set) var isUsed = false
  }

  /// Sorted by key.
  private(set) var columns: [Column] = []
  /// The indices of the record's fields in the table.
  ///
  /// Sorted, without duplicates.
  private(set) var fields: [Int32] = []
  /// The bytes of the record's key.
  private var key: [UInt8] = []
  private var isFirst = true
  /// Whether the next message may start with the same entity, as rows do.
  var expectsRepetition = false
  /// Whether a message started with the same entity as the one before.
  private(set) var isRepeated = false
  /// The bytes of the entity's name and fields, and the number of those before
  /// the fields, if a repetition is expected.
  private var heading: (bytes: [UInt8], nameEnd: Int) = ([], 0)

  /// Removes the entity.
  mutating func reset() { columns.removeAll(keepingCapacity: true) }

  /// The ID of the record.
  var record: RecordID {
    RecordID(name, String(decoding: key, as: UTF8.self))
  }

  /// Whether the record's fields include its existence.
  var hasExistence: Bool { fields[0] == 0 && columns[0].key == .existence }

  /// Reads the name and the fields of the next entity.
  mutating func readEntity(
    isFirst: Bool, _ reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    isRepeated = isFirst && reader.skip(heading.bytes)
    if isRepeated { return try repeatEntity(reader) }
    let (length, count) = try reader.pair()
    try reader.require(
      length <= Limits.nameBytes, .invalid,
      "an entity name of at most 255 bytes", at: start)
    let next = try reader.text(length)
    try reader.require(
      isFirst || UTF8Order.compare(name, next) < 0, .notCanonical,
      "sorted entities", at: start)
    try EntityTable.check(count, within: reader.remaining, start, reader)
    let nameEnd = reader.offset - start
    (name, self.isFirst) = (next, true)
    fields.removeAll(keepingCapacity: true)
    columns.removeAll(keepingCapacity: true)
    columns.reserveCapacity(count)
    for _ in 0..<count {
      let start = reader.offset
      let key = try reader.fieldKey()
      if let previous = columns.last?.key, key <= previous {
        throw reader.error(.notCanonical, "sorted fields", at: start)
      }
      columns.append(Column(key: key))
    }
    heading = expectsRepetition ? (reader.read(from: start), nameEnd) : ([], 0)
  }

  private static func check(
    _ count: Int, within remaining: Int, _ start: Int, _ reader: WireReader
  ) throws(WireError) {
    try reader.require(
      count <= remaining / 4, .truncated,
      "at least four bytes for each of \(count) fields", at: start)
  }

  /// Starts the entity of the previous message again, whose bytes were skipped.
  private mutating func repeatEntity(
    _ reader: WireReader
  ) throws(WireError) {
    let fieldBytes = heading.bytes.count - heading.nameEnd
    try EntityTable.check(
      columns.count, within: reader.remaining + fieldBytes,
      reader.offset - heading.bytes.count, reader)
    isFirst = true
    fields.removeAll(keepingCapacity: true)
    for i in columns.indices { columns[i].isUsed = false }
  }

  /// Reads the key of the next record.
  mutating func readKey(_ reader: inout WireReader) throws(WireError) {
    let start = reader.offset
    let (shared, count) = try reader.pair()
    let rest = try reader.take(count)
    let length = isFirst ? 0 : key.count
    try reader.require(
      shared <= min(length, Limits.sharedBytes), .invalid,
      "at most 63 bytes shared with the previous key", at: start)
    try reader.require(
      shared + count <= Limits.keyBytes, .invalid,
      "a record key of at most 1024 bytes", at: start)
    if !isFirst {
      let isLongest =
        shared == Limits.sharedBytes || shared == length
        || rest.first != key[shared]
      try reader.require(
        isLongest && key[shared...].lexicographicallyPrecedes(rest),
        .notCanonical, "sorted records with the longest shared prefix",
        at: start)
    }
    key.removeLast(key.count - shared)
    key.append(contentsOf: rest)
    isFirst = false
    try reader.checkText(key, at: start)
  }

  /// Reads the fields of the record, unless they are those of the previous
  /// record.
  mutating func readLayout(
    isSame: Bool, _ reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    var (count, next) = isSame ? (fields.count, 0) : try reader.pair()
    try reader.require(
      count > 0 && count <= columns.count, .invalid,
      "from 1 to \(columns.count) of the entity's fields", at: start)
    if isSame { return }
    let before = fields.count
    for i in 0..<count {
      // Clamp the number far above any index, so the sum cannot overflow.
      if i > 0 { next += 1 + Int(clamping: min(try reader.varint(), 1 << 30)) }
      try reader.require(
        next < columns.count, .invalid,
        "one of the entity's \(columns.count) fields", at: start)
      columns[next].isUsed = true
      fields.append(Int32(next))
    }
    try reader.require(
      !fields[..<before].elementsEqual(fields[before...]), .notCanonical,
      "the flag for the same fields as the previous record", at: start)
    fields.removeSubrange(..<before)
    _checkInvariants()
  }

  /// Throws an error unless every field of the table occurs in a record.
  func checkUses(_ reader: WireReader) throws(WireError) {
    try reader.require(
      columns.allSatisfy(\.isUsed), .notCanonical,
      "no field in the table that occurs in no record")
  }
}

extension WireReader {
  /// Reads a field of an entity's table.
  fileprivate mutating func fieldKey() throws(WireError) -> FieldKey {
    let start = offset
    let (shape, count) = try pair()
    guard shape < 16, let kind = FieldKind(order: shape & 7) else {
      throw error(
        .newerVersion,
        "a field with a lattice of format version \(WireKind.version)",
        at: start)
    }
    let name = try text(count)
    var variant: String?
    if shape & 8 != 0 { variant = try text(try self.count()) }
    if kind == .existence, name.isEmpty, variant == nil { return .existence }
    try require(
      FieldKey.isValid(name, kind, variant), .notCanonical,
      "a field name and variant of 1 to 255 bytes, and a variant that is "
        + "not the kind's name", at: start)
    return FieldKey(name, kind, variant: variant)
  }
}

extension EntityTable {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        zip(fields, fields.dropFirst()).allSatisfy(<),
        "the fields of the record are not sorted: \(fields)")
    #endif
  }
}
