// SPDX-License-Identifier: Apache-2.0

/// An entity of a message that is being read: its fields, and the record before.
struct EntityTable {
  private(set) var entity = ""
  /// The first of its fields.
  private var keys: [FieldKey] = []
  /// Where the other fields are, to be read whenever they are needed.
  private var offsets: [Int] = []
  /// The fields of the record, by their place in the table.
  private(set) var fields: [Int32] = []
  /// Whether the record's existence is among what is said of it.
  private(set) var hasExistence = false
  /// Whether the last record has been begun.
  var isFinished = true

  private var used: [Bool] = []
  private var previousKey: [UInt8]?
  private var isFirst = true

  /// Reads the name and the fields of the next entity.
  mutating func begin(_ reader: inout WireReader) throws(WireError) {
    let start = reader.offset
    let (length, count) = try reader.pair()
    guard length <= Limits.nameBytes else {
      throw reader.error(.invalid, "a name of 255 bytes at most", at: start)
    }
    let name = try reader.text(length)
    guard isFirst || UTF8Order.compare(entity, name) < 0 else {
      throw reader.error(.notCanonical, "entities in order", at: start)
    }
    guard count <= reader.remaining / 2 else {
      throw reader.error(.truncated, "room for \(count) fields", at: start)
    }
    (entity, isFirst, isFinished) = (name, false, false)
    (previousKey, fields, hasExistence) = (nil, [], false)
    used = Array(repeating: false, count: count)
    try readFields(count, &reader)
  }

  private mutating func readFields(
    _ count: Int, _ reader: inout WireReader
  ) throws(WireError) {
    (keys, offsets) = ([], [])
    keys.reserveCapacity(min(count, Limits.keptFields))
    offsets.reserveCapacity(max(count - Limits.keptFields, 0))
    var previous: FieldKey?
    for _ in 0..<count {
      let start = reader.offset
      let key = try reader.field()
      if let previous, !(previous < key) {
        throw reader.error(.notCanonical, "fields in order", at: start)
      }
      previous = key
      if keys.count < Limits.keptFields {
        keys.append(key)
      } else {
        offsets.append(start)
      }
    }
  }

  /// A field of the table.
  func key(
    at place: Int32, _ reader: WireReader
  ) throws(WireError) -> FieldKey {
    let place = Int(place)
    if place < keys.count { return keys[place] }
    var reader = reader
    reader.goBack(to: offsets[place - keys.count])
    return try reader.field()
  }

  /// Reads the key of the next record.
  mutating func key(_ reader: inout WireReader) throws(WireError) -> String {
    let start = reader.offset
    let (shared, count) = try reader.pair()
    let rest = try reader.take(count)
    let previous = previousKey ?? []
    guard shared <= min(previous.count, Limits.sharedBytes) else {
      throw reader.error(.invalid, "as many bytes to share", at: start)
    }
    var key = Array(previous[..<shared])
    key += rest
    if previousKey != nil {
      let isMaximal =
        shared == Limits.sharedBytes || shared == previous.count
        || rest.first != previous[shared]
      guard isMaximal, UTF8Order.compare(previous, key) < 0 else {
        throw reader.error(.notCanonical, "records in order", at: start)
      }
    }
    previousKey = key
    return try reader.text(of: key, at: start)
  }

  /// Reads which fields the record has.
  mutating func layout(
    isSame: Bool, _ reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    if isSame {
      guard hasExistence || !fields.isEmpty else {
        throw reader.error(.notCanonical, "fields of a record", at: start)
      }
      return
    }
    let (count, first) = try reader.pair()
    guard count <= used.count, count > 0 || first == 1 else {
      throw reader.error(.invalid, "some of the fields", at: start)
    }
    var layout: [Int32] = []
    layout.reserveCapacity(count)
    var next = first >> 1
    for i in 0..<count {
      if i > 0 { next += 1 + Int(clamping: min(try reader.varint(), 1 << 32)) }
      guard next < used.count else {
        throw reader.error(.invalid, "one of the fields", at: start)
      }
      used[next] = true
      layout.append(Int32(next))
    }
    let exists = first & 1 != 0
    guard layout != fields || exists != hasExistence else {
      throw reader.error(.notCanonical, "the same fields as before", at: start)
    }
    (fields, hasExistence) = (layout, exists)
  }

  /// Refuses fields that no record has.
  func checkUse(_ reader: WireReader) throws(WireError) {
    guard used.allSatisfy(\.self) else {
      throw reader.error(.notCanonical, "no field that no record has")
    }
  }
}

extension WireReader {
  /// A field in an entity's table.
  fileprivate mutating func field() throws(WireError) -> FieldKey {
    let start = offset
    let (shape, count) = try pair()
    guard let kind = FieldKind(shapeCode: UInt8(shape & 7)), shape < 16 else {
      throw error(
        .newerVersion,
        "a lattice of version \(WireKind.version); the field's is newer",
        at: start)
    }
    let name = try text(count)
    var variant: String?
    if shape & 8 != 0 { variant = try text(try self.count()) }
    guard FieldKey.isValid(name, kind, variant) else {
      throw error(.notCanonical, "a name of a field", at: start)
    }
    return FieldKey(name, kind, variant: variant)
  }
}
