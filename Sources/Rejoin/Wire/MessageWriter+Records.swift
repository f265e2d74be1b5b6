// SPDX-License-Identifier: Apache-2.0

/// How a record is written.
enum RecordForm: UInt64 {
  /// Every field in full.
  case full
  /// One value per field, all of one save.
  case same
  /// One value per field, each of the save after that of the previous field.
  /// The existence is of the last one.
  case next
}

extension MessageWriter {
  /// Writes the records of one entity.
  mutating func write(_ records: ArraySlice<RecordChange>) {
    guard let entity = records.first?.id.entity else { return }
    var places: [FieldKey: Int] = [:]
    for record in records {
      for key in record.fields.keys where key != .existence { places[key] = 0 }
    }
    let keys = places.keys.sorted()
    for (place, key) in keys.enumerated() { places[key] = place }
    out.pair(entity.utf8.count, keys.count)
    out.raw(entity.utf8)
    for key in keys { out.field(key) }
    var previous: (key: String, layout: [Int])?
    for (i, record) in records.enumerated() {
      let fields = record.fields.filter { $0.key != .existence }
        .map { (place: places[$0.key] ?? 0, state: $0.value) }
        .sorted { $0.place < $1.place }
      out.key(record.id.key, after: previous?.key)
      let existence = record.fields[.existence]
      let layout = fields.map(\.place) + (existence == nil ? [] : [-1])
      write(
        RecordContent(existence: existence, fields: fields.map(\.state)),
        layout: layout == previous?.layout ? nil : layout,
        isLast: i == records.count - 1)
      previous = (record.id.key, layout)
    }
  }

  private mutating func write(
    _ record: RecordContent, layout: [Int]?, isLast: Bool
  ) {
    let (form, first) = self.form(of: record)
    let flags =
      (isLast ? 1 : 0) | (layout == nil ? 2 : 0) | form.rawValue << 2
    let moved = form == .full ? 0 : Int64(first - last - 1).zigzag
    out.varint(moved << 4 | flags)
    if let layout { out.layout(layout) }
    if form == .full {
      for state in record.all { write(state) }
      return
    }
    for state in record.fields { out.value(state.writes[0].payload.value) }
    last = form == .same ? first : first + max(record.fields.count, 1) - 1
  }

  /// The shortest form of a record, and the index of its first save.
  private func form(of record: RecordContent) -> (RecordForm, first: Int) {
    var places: [Int] = []
    places.reserveCapacity(record.fields.count)
    for state in record.fields {
      guard let place = place(ofOnlyWrite: state) else { return (.full, 0) }
      places.append(place)
    }
    if let existence = record.existence {
      guard let place = place(ofOnlyWrite: existence),
        existence.value == .bool(true), place == places.last ?? place
      else { return (.full, 0) }
      if places.isEmpty { places = [place] }
    }
    let first = places[0]
    if places.allSatisfy({ $0 == first }) { return (.same, first) }
    let follows = places.enumerated().allSatisfy { $1 == first + $0 }
    return follows ? (.next, first) : (.full, 0)
  }

  /// The index of the save of a register's one write, if the field consists of
  /// just that.
  private func place(ofOnlyWrite state: FieldState) -> Int? {
    guard case .register(let field) = state, field.isContextImplied,
      field.store.count == 1
    else { return nil }
    let only = field.store[0]
    let found = saves.find(only.dot)
    return only.payload.time.rawValue == found.time ? found.place : nil
  }
}

/// A record's fields, in the order of the table.
private struct RecordContent {
  let existence: FieldState?
  let fields: [FieldState]

  var all: [FieldState] { (existence.map { [$0] } ?? []) + fields }
}

extension WireWriter {
  /// Writes a field of an entity's table: its lattice, its name, and its
  /// variant if there is one.
  fileprivate mutating func field(_ key: FieldKey) {
    let variant = key.variant
    pair(
      Int(key.kind.shapeCode) | (variant == nil ? 0 : 8), key.name.utf8.count)
    raw(key.name.utf8)
    guard let variant else { return }
    varint(variant.utf8.count)
    raw(variant.utf8)
  }

  /// Writes a record's key: how many bytes it shares with the previous one, at
  /// most ``Limits/sharedBytes``, and the rest.
  fileprivate mutating func key(_ key: String, after previous: String?) {
    var shared = 0
    if let previous {
      for (a, b) in zip(key.utf8, previous.utf8) {
        if a != b || shared == Limits.sharedBytes { break }
        shared += 1
      }
    }
    pair(shared, key.utf8.count - shared)
    raw(key.utf8.dropFirst(shared))
  }

  /// Writes which fields of the table a record has; −1 is its existence.
  fileprivate mutating func layout(_ layout: [Int]) {
    let fields = layout.filter { $0 >= 0 }
    let existence = fields.count < layout.count ? 1 : 0
    pair(fields.count, (fields.first ?? 0) << 1 | existence)
    for (a, b) in zip(fields, fields.dropFirst()) { varint(b - a - 1) }
  }
}

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
    guard
      let kind = FieldKind.allCases.first(where: {
        $0.shapeCode == shapeCode
      })
    else { return nil }
    self = kind
  }
}
