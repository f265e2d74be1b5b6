// SPDX-License-Identifier: Apache-2.0

// An entity in a message: its name and the table of its fields.

extension FieldKind {
  /// The number of the kind's lattice in the format.
  var shapeCode: UInt8 {
    switch self {
    case .register: 0
    case .lww: 1
    case .counter: 2
    case .set: 3
    case .removeWinsSet: 4
    case .ledger: 5
    }
  }

  init?(shapeCode: UInt8) {
    switch shapeCode {
    case 0: self = .register
    case 1: self = .lww
    case 2: self = .counter
    case 3: self = .set
    case 4: self = .removeWinsSet
    case 5: self = .ledger
    default: return nil
    }
  }
}

extension WireWriter {
  /// Writes the name of an entity and the table of its fields.
  mutating func entity(_ name: String, _ fields: some Collection<FieldKey>) {
    pair(name.utf8.count, fields.count)
    text(name)
    for field in fields { self.field(field) }
  }

  /// Writes a field of an entity's table: its lattice, its name, and its
  /// variant if there is one.
  private mutating func field(_ key: FieldKey) {
    let variant = key.variant
    pair(
      Int(key.kind.shapeCode) | (variant == nil ? 0 : 8), key.name.utf8.count)
    text(key.name)
    guard let variant else { return }
    varint(variant.utf8.count)
    text(variant)
  }
}

/// The entity of a message that is being read: its fields, and the previous
/// record.
struct EntityTable {
  private(set) var name = ""
  /// A field of the entity.
  struct Column {
    let key: FieldKey
    /// Whether it occurs in any record.
    fileprivate(set) var isUsed = false
  }

  /// Sorted by key.
  private(set) var columns: [Column] = []
  /// The indices of the record's fields in the table.
  ///
  /// Sorted, without duplicates.
  private(set) var fields: [Int32] = []
  /// Whether the record's existence is among its fields.
  private(set) var hasExistence = false
  /// The number of the record's fields.
  var fieldCount: Int { fields.count + (hasExistence ? 1 : 0) }
  /// Whether the entity has no further records.
  var isFinished = true
  /// The key of the record.
  private var key: [UInt8] = []
  private var isFirst = true
  private var entityCount = 0

  /// Goes back to before the first entity.
  mutating func reset() {
    (entityCount, isFinished) = (0, true)
    columns.removeAll(keepingCapacity: true)
  }

  /// Reads the name and the fields of the next entity.
  mutating func begin(_ reader: inout WireReader) throws(WireError) {
    let start = reader.offset
    let (length, count) = try reader.pair()
    guard length <= Limits.nameBytes else {
      throw reader.error(
        .invalid, "an entity name of at most 255 bytes", at: start)
    }
    let next = try reader.text(length)
    guard entityCount == 0 || UTF8Order.compare(name, next) < 0 else {
      throw reader.error(.notCanonical, "sorted entities", at: start)
    }
    guard count <= reader.remaining / 2 else {
      throw reader.error(
        .truncated, "at least two bytes for each of \(count) fields", at: start)
    }
    (name, entityCount) = (next, entityCount + 1)
    (isFinished, isFirst, hasExistence) = (false, true, false)
    fields.removeAll(keepingCapacity: true)
    columns.removeAll(keepingCapacity: true)
    columns.reserveCapacity(count)
    for _ in 0..<count {
      let start = reader.offset
      let key = try reader.field()
      if let previous = columns.last, !(previous.key < key) {
        throw reader.error(.notCanonical, "sorted fields", at: start)
      }
      columns.append(Column(key: key))
    }
  }

  /// The kind of a field of the table.
  func kind(at place: Int32) -> FieldKind { columns[Int(place)].key.kind }

  /// Reads the key of the next record.
  mutating func key(_ reader: inout WireReader) throws(WireError) {
    let start = reader.offset
    let (shared, count) = try reader.pair()
    let rest = try reader.take(count)
    let length = isFirst ? 0 : key.count
    guard shared <= min(length, Limits.sharedBytes) else {
      throw reader.error(
        .invalid, "at most 63 bytes shared with the previous key", at: start)
    }
    if !isFirst {
      let isMaximal =
        shared == Limits.sharedBytes || shared == length
        || rest.first != key[shared]
      guard isMaximal, key[shared...].lexicographicallyPrecedes(rest)
      else {
        throw reader.error(
          .notCanonical, "sorted records with the longest shared prefix",
          at: start)
      }
    }
    key.removeLast(key.count - shared)
    key.append(contentsOf: rest)
    isFirst = false
    try reader.checkText(key, at: start)
  }

  /// The key of the record.
  var text: String { String(decoding: key, as: UTF8.self) }

  /// Reads which fields of the table the record has.
  ///
  /// - Parameter isAlwaysWritten: Whether it is written even if the previous
  ///   record has the same.
  mutating func layout(
    isSame: Bool, isAlwaysWritten: Bool, _ reader: inout WireReader
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
    guard count <= columns.count, count > 0 || first == 1 else {
      throw reader.error(
        .invalid,
        "at most \(columns.count) of the entity's fields, or existence alone",
        at: start)
    }
    var isChanged = count != fields.count || (first & 1 != 0) != hasExistence
    var next = first >> 1
    for i in 0..<count {
      // Clamped far above any index, so that the sum cannot overflow.
      if i > 0 { next += 1 + Int(clamping: min(try reader.varint(), 1 << 32)) }
      guard next < columns.count else {
        throw reader.error(
          .invalid, "one of the entity's \(columns.count) fields", at: start)
      }
      columns[next].isUsed = true
      if i < fields.count {
        isChanged = isChanged || fields[i] != Int32(next)
        fields[i] = Int32(next)
      } else {
        fields.append(Int32(next))
      }
    }
    guard isChanged || isAlwaysWritten else {
      throw reader.error(
        .notCanonical, "the flag for the same fields as the previous record",
        at: start)
    }
    fields.removeLast(fields.count - count)
    hasExistence = first & 1 != 0
    _checkInvariants()
  }

  /// Throws if any field of the table occurs in no record.
  func checkUse(_ reader: WireReader) throws(WireError) {
    guard columns.allSatisfy({ $0.isUsed }) else {
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
        zip(fields, fields.dropFirst()).allSatisfy(<),
        "the fields of the record are not sorted: \(fields)")
    #endif
  }
}
