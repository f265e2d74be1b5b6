// SPDX-License-Identifier: Apache-2.0

/// Reads the records of a message, to validate them or to build them.
///
/// It accepts only the bytes that ``MessageWriter`` writes. Messages are
/// therefore equal if and only if their bytes are.
struct MessageReader {
  var fields: FieldReader
  private(set) var table: EntityTable

  // The current record.

  /// Whether all fields are registers, each with one write by the save `last`.
  private var isOfOneSave = false
  /// The index of the next field.
  private var next = 0
  /// The only save of all fields so far, or `nil` if the fields rule it out.
  private var onlySave: Int?
  /// The bytes of the previous field, if it was written in full and has no
  /// content.
  private var emptied: Range<Int>?
  /// The clock of that field.
  private var emptiedClock = VectorClock()
  private var start = 0

  private var entitiesLeft: Int
  private var isFirstEntity = true
  private var isFinished = true

  init(
    _ fields: FieldReader, entities: Int, table: EntityTable = EntityTable()
  ) {
    (self.fields, entitiesLeft, self.table) = (fields, entities, table)
  }

  /// Returns to the first entity to build the records.
  mutating func goBack(to start: Int, entities: Int) {
    fields.goBack(to: start)
    table.reset()
    (entitiesLeft, isFirstEntity, isFinished) = (entities, true, true)
  }

  /// Reads the table of the next entity.
  ///
  /// - Returns: Whether another entity exists.
  mutating func nextEntity() throws(WireError) -> Bool {
    try table.checkUses(fields.bytes)
    guard entitiesLeft > 0 else { return false }
    entitiesLeft -= 1
    try table.readEntity(isFirst: isFirstEntity, &fields.bytes)
    (isFirstEntity, isFinished) = (false, false)
    return true
  }

  /// Reads the key and the layout of the entity's next record.
  ///
  /// - Returns: Whether the entity has another record.
  mutating func nextRecord() throws(WireError) -> Bool {
    if isFinished { return false }
    try table.readKey(&fields.bytes)
    start = fields.bytes.offset
    let head = try fields.bytes.varint()
    isFinished = head & 1 != 0
    isOfOneSave = head & 4 != 0
    try table.readLayout(isSame: head & 2 != 0, &fields.bytes)
    (next, emptied, onlySave) = (0, nil, nil)
    fields.isFragment = false
    if isOfOneSave {
      fields.last = try fields.index(
        fields.last + 1, movedBy: head >> 3, isSigned: true, at: start)
    } else if head >> 3 > 0 {
      throw fields.bytes.error(
        .notCanonical, "no distance unless the record is of one save",
        at: start)
    }
    return true
  }

  /// Reads the next field of the record.
  ///
  /// - Returns: The index of the field in the entity's table, and its state, or
  ///   `nil` after the last field. If the reader only validates, the state is
  ///   empty.
  mutating func nextField() throws(WireError) -> (
    index: Int, state: FieldState
  )? {
    guard next < table.fields.count else {
      try fields.bytes.require(
        onlySave == nil || isOfOneSave, .notCanonical,
        "the short form of the record", at: start)
      return nil
    }
    let index = Int(table.fields[next])
    defer { next += 1 }
    let kind = table.columns[index].key.kind
    return (
      index, isOfOneSave ? try readValue(kind) : try readField(kind)
    )
  }

  /// Whether the last field that was read is only a fragment.
  var isAtFragment: Bool { fields.isFragment }

  /// Reads a field with one write that has its save's timestamp.
  private mutating func readValue(
    _ kind: FieldKind
  ) throws(WireError) -> FieldState {
    try fields.bytes.require(
      kind == .register, .invalid,
      "only registers in the short form of a record", at: start)
    let value = try fields.bytes.value(isBuilding: fields.isBuilding)
    let time = fields.saves.saves[fields.last].time
    let (dot, line) = fields.dot(at: fields.last)
    fields.stamp(fields.last, at: time)
    fields.see(dot.sequence, of: line)
    guard fields.isBuilding else { return FieldState(.register) }
    let write = Stamped(value, at: Timestamp(rawValue: time))
    return FieldState(Causal(Siblings(write, at: dot), nil))
  }

  /// Reads a whole field, or a mark that it equals the previous empty one.
  private mutating func readField(
    _ kind: FieldKind
  ) throws(WireError) -> FieldState {
    let start = fields.bytes.offset
    guard try fields.begin() else {
      try fields.bytes.require(
        emptied != nil, .notCanonical, "a save that the field has seen",
        at: start)
      return fields.isBuilding
        ? FieldState(kind, seen: emptiedClock) : FieldState(kind)
    }
    let state = try FieldState.read(kind, from: &fields)
    let isEmptied = fields.count == 0 && !fields.isFragment
    let bytes = start..<fields.bytes.offset
    if isEmptied, let emptied, fields.bytes.hasEqualBytes(emptied, bytes) {
      throw fields.bytes.error(
        .notCanonical, "the short form of a field without content", at: start)
    }
    emptied = isEmptied ? bytes : nil
    if isEmptied { emptiedClock = state.clock }
    let only = fields.onlyExactWrite(of: kind)
    onlySave = next == 0 || only == onlySave ? only : nil
    return state
  }
}
