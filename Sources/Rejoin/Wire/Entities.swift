// SPDX-License-Identifier: Apache-2.0

// An entity in a message: its name and the table of its fields.

extension WireWriter {
  /// Writes the name of an entity and the table of its fields.
  mutating func entity(
    _ name: String, _ columns: some Collection<EntityTable.Column>
  ) {
    pair(name.utf8.count, columns.count)
    text(name)
    for column in columns { self.column(column) }
  }

  /// Writes a field of an entity's table: its lattice and whether only fragments
  /// of it are in the message, its name, and its variant if there is one.
  private mutating func column(_ column: EntityTable.Column) {
    let (key, variant) = (column.key, column.key.variant)
    pair(
      Int(key.kind.shapeCode) | (variant == nil ? 0 : 8)
        | (column.isFragment ? 16 : 0), key.name.utf8.count)
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
  /// A field of the entity, either of which records have whole states or of
  /// which they have fragments.
  struct Column {
    let key: FieldKey
    var isFragment = false
    /// Whether it occurs in any record.
    fileprivate(set) var isUsed = false
  }

  /// Sorted by key, the fragments of a field after the field.
  private(set) var columns: [Column] = []
  /// Whether there are fragments of any field.
  var hasFragments: Bool { columns.contains { $0.isFragment } }
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
      let column = try reader.column()
      if let previous = columns.last, !(previous < column) {
        throw reader.error(.notCanonical, "sorted fields", at: start)
      }
      columns.append(column)
    }
  }

  /// A field of the table.
  subscript(place: Int32) -> Column { columns[Int(place)] }

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
      guard
        !columns[next].isFragment || i == 0 || next == 0
          || Int(fields[i - 1]) < next - 1
          || columns[next - 1].key != columns[next].key
      else {
        throw reader.error(
          .invalid, "a field or a fragment of it, not both", at: start)
      }
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

extension EntityTable.Column: Comparable {
  static func < (a: EntityTable.Column, b: EntityTable.Column) -> Bool {
    a.key == b.key ? !a.isFragment && b.isFragment : a.key < b.key
  }
}

extension WireReader {
  /// Reads a field of an entity's table.
  fileprivate mutating func column() throws(WireError) -> EntityTable.Column {
    let start = offset
    let (shape, count) = try pair()
    guard let kind = FieldKind(shapeCode: UInt8(shape & 7)), shape < 32 else {
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
    let isFragment = shape & 16 != 0
    guard !isFragment || kind.supportsFragments && self.kind.hasFragments
    else {
      throw error(
        .invalid,
        "fragments only of sets, counters and ledgers, in a delta or a record",
        at: start)
    }
    return EntityTable.Column(
      key: FieldKey(name, kind, variant: variant), isFragment: isFragment)
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
