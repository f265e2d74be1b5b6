// SPDX-License-Identifier: Apache-2.0

/// How a record is written.
enum RecordForm: UInt64 {
  /// Every field in full.
  case full
  /// One value per field, all of one save.
  case same
  /// One value per field, each of the save after that of the previous field.
  case next
  /// Several fields that are bare and have seen the same saves, as a purge
  /// leaves them: one field stands for all.
  ///
  /// Its layout is always written out, so that a message has a byte for each
  /// field that a reader builds.
  case bare
}

/// Finds the shortest form of a record, field by field.
///
/// It is told of each field the index of its save, if the field is a register
/// with one write that has the timestamp of its save.
struct FormChoice {
  private var first: Int?
  private var count = 0
  private var (isSame, isNext) = (true, true)

  /// Takes the next field.
  mutating func note(_ place: Int?) {
    guard let place else { return (isSame, isNext) = (false, false) }
    let first = first ?? place
    self.first = first
    isSame = isSame && place == first
    isNext = isNext && place == first + count
    count += 1
  }

  /// The form, and the index of the first save in a short one.
  var form: (RecordForm, first: Int) {
    guard let first, isSame || isNext else { return (.full, 0) }
    return (isSame ? .same : .next, first)
  }
}

extension WireWriter {
  /// Writes a record's key: how many bytes it shares with the previous one, at
  /// most ``Limits/sharedBytes``, and the rest.
  mutating func key(_ key: String, after previous: String?) {
    var (key, previous) = (key, previous ?? "")
    key.withUTF8 { key in
      previous.withUTF8 { previous in
        let most = min(key.count, previous.count, Limits.sharedBytes)
        var shared = 0
        while shared < most, key[shared] == previous[shared] { shared += 1 }
        pair(shared, key.count - shared)
        raw(
          UnsafeRawBufferPointer(
            rebasing: UnsafeRawBufferPointer(key)[shared...]))
      }
    }
  }

  /// Writes which fields of the table a record has.
  mutating func layout(_ places: [Int32], hasExistence: Bool) {
    pair(places.count, Int(places.first ?? 0) << 1 | (hasExistence ? 1 : 0))
    for i in places.indices.dropFirst() {
      varint(Int(places[i] - places[i - 1]) - 1)
    }
  }
}

/// The record that is being read, between two of its fields.
struct RecordCursor {
  fileprivate var form = RecordForm.full
  /// The index of the first save, in a short form.
  fileprivate var first = 0
  /// The index of the last save, in a short form.
  fileprivate var end = 0
  fileprivate var start = 0
  /// The index of the next field, or the number of fields for the existence.
  fileprivate var next = 0
  fileprivate var choice = FormChoice()
  /// The bytes of the first field.
  fileprivate var sample = 0..<0
  /// Whether it is bare, and all fields so far have its bytes.
  fileprivate var areAlike = true
  /// The clock of every field, in the bare form.
  fileprivate var clock = VectorClock()
}

extension MessageReader {
  /// Reads the key and the layout of the entity's next record.
  ///
  /// - Returns: Whether there is another.
  mutating func nextRecord() throws(WireError) -> Bool {
    if table.isFinished { return false }
    let beginning = fields.bytes.offset
    try table.key(&fields.bytes)
    noteRecord(keyFrom: beginning)
    let start = fields.bytes.offset
    let head = try fields.bytes.varint()
    let form = RecordForm(rawValue: head >> 2 & 3) ?? .full
    table.isFinished = head & 1 != 0
    guard form != .bare || head & 2 == 0 else {
      throw fields.bytes.error(
        .notCanonical, "the fields of a record of form 3", at: start)
    }
    try table.layout(
      isSame: head & 2 != 0, isAlwaysWritten: form == .bare, &fields.bytes)
    record = RecordCursor()
    (record.form, record.start) = (form, start)
    if table.hasExistence { fields.recordDots.begin() }
    if form == .full || form == .bare {
      guard head >> 4 == 0, form == .full || table.fields.count > 1 else {
        throw fields.bytes.error(
          .notCanonical,
          "no distance in a record of form 0 or 3, and several fields in one of "
            + "form 3", at: start)
      }
      return true
    }
    let first = try fields.place(
      fields.last + 1, movedBy: Int64(zigzag: head >> 4), at: start)
    let count = table.fields.count
    record.first = first
    record.end = form == .same ? first : first + count - 1
    guard count > (form == .same ? 0 : 1), record.end < fields.saves.count
    else {
      throw fields.bytes.error(
        .notCanonical,
        "one save for at least one field, or consecutive saves for several "
          + "fields, within the \(fields.saves.count) saves",
        at: start)
    }
    return true
  }

  /// Reads the next field of the record.
  ///
  /// - Returns: Its index in the entity's table, −1 for the existence, and its
  ///   state, which is empty if nothing is built; `nil` after the last field.
  mutating func nextField() throws(WireError) -> (
    place: Int, state: FieldState
  )? {
    let (i, count) = (record.next, table.fields.count)
    if i == count { try endFields() }
    guard i < count || i == count && table.hasExistence else { return nil }
    record.next += 1
    noteField()
    fields.isFragment = false
    if i == count { return (-1, try readState(.existence)) }
    let place = table.fields[i]
    let (kind, isFragment) = (table[place].key.kind, table[place].isFragment)
    fields.isFragment = isFragment
    if record.form == .bare, i > 0, !isFragment {
      let isBuilding = fields.isBuilding
      return (
        Int(place),
        isBuilding ? FieldState(kind, seen: record.clock) : FieldState(kind)
      )
    }
    if record.form == .full || record.form == .bare {
      let start = fields.bytes.offset
      let state = try readState(kind)
      record.choice.note(fields.onlyWrite)
      noteAlike(
        start..<fields.bytes.offset,
        isBare: fields.head == 0 && !isFragment, isFirst: i == 0)
      if record.form == .bare { record.clock = state.clock }
      return (Int(place), state)
    }
    guard kind == .register else {
      throw fields.bytes.error(
        .invalid, "only registers in the short form of a record",
        at: record.start)
    }
    let value = try fields.bytes.value(isBuilding: fields.isBuilding)
    let save = record.form == .same ? record.first : record.first + i
    return (Int(place), try state(value, at: save))
  }

  /// Notes whether a field is bare and has the bytes of the first.
  ///
  /// Those of a bare field do not depend on where it stands.
  private mutating func noteAlike(
    _ bytes: Range<Int>, isBare: Bool, isFirst: Bool
  ) {
    if isFirst { record.sample = bytes }
    record.areAlike =
      record.areAlike && isBare
      && fields.bytes.hasEqualBytes(record.sample, bytes)
  }

  /// Checks the form of the record after its last field.
  private mutating func endFields() throws(WireError) {
    switch record.form {
    case .same, .next: fields.last = record.end
    case .full:
      let isBare = record.areAlike && table.fields.count > 1
      guard !isBare, record.choice.form.0 == .full else {
        throw fields.bytes.error(
          .notCanonical, "the short form of the record", at: record.start)
      }
    case .bare:
      guard record.areAlike else {
        throw fields.bytes.error(
          .notCanonical, "a field without content", at: record.start)
      }
    }
  }

  /// A field that consists of one write, with its save's timestamp.
  private mutating func state(
    _ value: Value?, at place: Int
  ) throws(WireError) -> FieldState {
    guard let time = fields.saves.stamp(place, extra: 0) else {
      throw fields.bytes.error(.invalid, "a save with a timestamp")
    }
    let (dot, line) = fields.saves.dot(at: place)
    fields.saves.see(dot.sequence, of: line)
    if table.hasExistence { fields.recordDots.insert(dot.sequence, line) }
    guard fields.isBuilding else { return FieldState(.register) }
    return FieldState(Causal(Siblings(Stamped(value, at: time), at: dot), nil))
  }

  private mutating func readState(
    _ kind: FieldKind
  ) throws(WireError) -> FieldState {
    try FieldState.read(kind, entersRecord: table.hasExistence, from: &fields)
  }
}
