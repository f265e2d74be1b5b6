// SPDX-License-Identifier: Apache-2.0

extension Siblings<Stamped>: FieldStore {
  package static var kind: FieldKind { .register }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .register(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .register(let field) = box { field } else { nil }
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Element] {
    guard case .write(let value) = save.edit else {
      drop(seen: Observed(save))
      return []
    }
    if let time = save.retraction?.time {
      drop(seen: Observed(save))
      insert(Stamped(value, at: time), at: save.dot)
      return []
    }
    return write(
      value, at: save.dot, time: save.time, observed: Observed(save))
  }

  package var hasContent: Bool { !isEmpty }

  package var shownValues: [Value]? {
    winner.map { $0.payload.value.map { [$0] } ?? [] }
  }

  package func shows(sameAs other: Self) -> Bool {
    winner?.payload.value == other.winner?.payload.value
  }

  package var mayContainReferences: Bool {
    contains { $0.payload.value?.isReference == true }
  }

  package func forEachValue(_ body: (Value) -> Void) {
    for sibling in self {
      if let value = sibling.payload.value { body(value) }
    }
  }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for sibling in self { body(sibling.dot, sibling.payload.time) }
  }

  package var byteBound: Int {
    reduce(0) { $0 + ByteBound.save + $1.payload.value.byteBound }
  }

  /// Returns `nil`, because a write supersedes the other writes anyway.
  package func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? { nil }

  package func undoContent(
    of element: Value?, by device: DeviceID
  ) -> UndoContent {
    let writes = map {
      UndoSiblings.Sibling(
        dot: $0.dot, time: $0.payload.time, value: $0.payload.value)
    }
    return .siblings(UndoSiblings(writes, .latest))
  }

  package func edit(
    restoring content: UndoRestoration, by device: DeviceID
  ) -> FieldEdit? {
    if case .value(let value, _) = content { .write(value) } else { nil }
  }
}

// For a field of another kind, these properties are `nil` or empty.
extension FieldState {
  /// The visible value of a register.
  public var value: Value? {
    store(of: Siblings<Stamped>.self)?.winner?.payload.value
  }

  /// The visible write of a register.
  public var write: RegisterWrite? {
    store(of: Siblings<Stamped>.self)?.winner.map { RegisterWrite($0) }
  }

  /// The writes in a register, sorted by dot.
  public var writes: [RegisterWrite] {
    (store(of: Siblings<Stamped>.self) ?? Siblings()).map { RegisterWrite($0) }
  }

  /// The values of a register's other writes that differ from the visible
  /// value, sorted and without duplicates.
  ///
  /// The first value is `nil` if a write unset the register.
  var conflicts: [Value?] { store(of: Siblings<Stamped>.self)?.conflicts ?? [] }
}

/// The last write to a register in one save.
struct RegisterEdit: KindEdit {
  /// The value, or `nil` to unset the register.
  var value: Value?

  var mayContainReferences: Bool { value?.isReference == true }

  var removes: Bool { false }

  var byteBound: Int { value.map { ByteBound.save + $0.byteBound } ?? 0 }

  var canonical: RegisterEdit { RegisterEdit(value: value?.canonical) }

  mutating func append(_ later: RegisterEdit) -> Bool {
    self = later
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(1)
    digest.add(value)
  }
}

// Each write: the reference to its save, the difference between its timestamp
// and the message's timestamp of the save, and its value.
extension Siblings<Stamped> {
  package func write(to writer: inout FieldWriter) {
    writer.head(count)
    for (i, sibling) in enumerated() {
      let time = writer.reference(to: sibling.dot, isFirst: i == 0)
      writer.out.varint(sibling.payload.time.rawValue - time)
      writer.out.value(sibling.payload.value)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 3, "writes")
    return try readSiblings(from: &reader, count: reader.count) {
      reader, i throws(WireError) in
      let index = try reader.reference(isFirst: i == 0).index
      let time = try reader.readTime(of: index)
      let value = try reader.bytes.value(isBuilding: reader.isBuilding)
      return .init(
        dot: reader.storeDot(at: index).dot, payload: Stamped(value, at: time))
    }
  }
}

extension Siblings {
  /// Reads siblings.
  ///
  /// If the reader only validates, it does not store two or more siblings.
  static func readSiblings(
    from reader: inout FieldReader, count: Int,
    _ sibling: (inout FieldReader, Int) throws(WireError) -> Element
  ) throws(WireError) -> Self {
    guard count > 1 else {
      // Most registers contain one write, which needs no array.
      if count == 0 { return Self() }
      let only = try sibling(&reader, 0)
      return Self(only.payload, at: only.dot)
    }
    var siblings: [Element] = []
    if reader.isBuilding { siblings.reserveCapacity(count) }
    for i in 0..<count {
      let next = try sibling(&reader, i)
      if reader.isBuilding { siblings.append(next) }
    }
    return Self(sorted: siblings)
  }
}
