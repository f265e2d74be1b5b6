// SPDX-License-Identifier: Apache-2.0

/// The entity of a message that is being read: its fields, and the previous
/// record.
struct EntityTable {
  private(set) var entity = ""
  /// The first fields of the entity, at most ``WireLimit/keptFields``.
  ///
  /// Sorted.
  private var keys: [FieldKey] = []
  /// The offsets of the other fields, which are read again whenever they are
  /// needed: a decoded key is far larger than its bytes.
  private var offsets: [Int] = []
  /// The indices of the record's fields in the table.
  ///
  /// Sorted, without duplicates.
  private(set) var fields: [Int32] = []
  /// Whether the record's existence is among its fields.
  private(set) var hasExistence = false
  /// Whether the entity has no further records.
  var isFinished = true

  /// Whether each field of the table occurs in any record.
  private var used: [Bool] = []
  private var previousKey: [UInt8]?
  private var isFirst = true

  /// Reads the name and the fields of the next entity.
  mutating func begin(_ reader: inout WireReader) throws(WireError) {
    let start = reader.offset
    let (length, count) = try reader.pair()
    guard length <= Limits.nameBytes else {
      throw reader.error(
        .invalid, "an entity name of at most 255 bytes", at: start)
    }
    let name = try reader.text(length)
    guard isFirst || UTF8Order.compare(entity, name) < 0 else {
      throw reader.error(.notCanonical, "sorted entities", at: start)
    }
    guard count <= reader.remaining / 2 else {
      throw reader.error(
        .truncated, "at least two bytes for each of \(count) fields", at: start)
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
        throw reader.error(.notCanonical, "sorted fields", at: start)
      }
      previous = key
      if keys.count < Limits.keptFields {
        keys.append(key)
      } else {
        offsets.append(start)
      }
    }
  }

  /// The key of a field of the table.
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
      throw reader.error(
        .invalid, "at most 63 bytes shared with the previous key", at: start)
    }
    var key = Array(previous[..<shared])
    key += rest
    if previousKey != nil {
      let isMaximal =
        shared == Limits.sharedBytes || shared == previous.count
        || rest.first != previous[shared]
      guard isMaximal, UTF8Order.compare(previous, key) < 0 else {
        throw reader.error(
          .notCanonical, "sorted records with the longest shared prefix",
          at: start)
      }
    }
    previousKey = key
    return try reader.text(of: key, at: start)
  }

  /// Reads which fields of the table the record has.
  mutating func layout(
    isSame: Bool, _ reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    if isSame {
      guard hasExistence || !fields.isEmpty else {
        throw reader.error(
          .notCanonical, "a record with at least one field", at: start)
      }
      return
    }
    let (count, first) = try reader.pair()
    guard count <= used.count, count > 0 || first == 1 else {
      throw reader.error(
        .invalid,
        "at most \(used.count) of the entity's fields, or existence alone",
        at: start)
    }
    var layout: [Int32] = []
    layout.reserveCapacity(count)
    var next = first >> 1
    for i in 0..<count {
      // Clamped far above any index, so that the sum cannot overflow.
      if i > 0 { next += 1 + Int(clamping: min(try reader.varint(), 1 << 32)) }
      guard next < used.count else {
        throw reader.error(
          .invalid, "one of the entity's \(used.count) fields", at: start)
      }
      used[next] = true
      layout.append(Int32(next))
    }
    let exists = first & 1 != 0
    guard layout != fields || exists != hasExistence else {
      throw reader.error(
        .notCanonical, "the flag for the same fields as the previous record",
        at: start)
    }
    (fields, hasExistence) = (layout, exists)
    _checkInvariants()
  }

  /// Throws if any field of the table occurs in no record.
  func checkUse(_ reader: WireReader) throws(WireError) {
    guard used.allSatisfy(\.self) else {
      throw reader.error(
        .notCanonical, "no field in the table that occurs in no record")
    }
  }
}

extension WireReader {
  /// Reads a field of an entity's table.
  fileprivate mutating func field() throws(WireError) -> FieldKey {
    let start = offset
    let (shape, count) = try pair()
    guard let kind = FieldKind(shapeCode: UInt8(shape & 7)), shape < 16 else {
      throw error(
        .newerVersion,
        "a field with a lattice of format version \(WireKind.version)",
        at: start)
    }
    let name = try text(count)
    var variant: String?
    if shape & 8 != 0 { variant = try text(try self.count()) }
    guard FieldKey.isValid(name, kind, variant) else {
      throw error(
        .notCanonical,
        "a field name and variant of 1 to 255 bytes, and a variant that is "
          + "not the kind's name",
        at: start)
    }
    return FieldKey(name, kind, variant: variant)
  }
}

extension EntityTable {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        keys.count <= WireLimit.keptFields
          && keys.count + offsets.count == used.count,
        "\(keys.count) keys and \(offsets.count) offsets of \(used.count) fields"
      )
      precondition(
        zip(keys, keys.dropFirst()).allSatisfy(<), "the keys are not sorted")
      precondition(
        zip(fields, fields.dropFirst()).allSatisfy(<),
        "the fields of the record are not sorted: \(fields)")
    #endif
  }
}
