// SPDX-License-Identifier: Apache-2.0

extension ORSetStore: FieldStore {
  package static var kind: FieldKind { .set }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .set(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .set(let field) = box { field } else { nil }
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] {
    if let retraction = save.retraction {
      for (element, dot) in retraction.elements {
        change(element, isIn: false, at: save.dot, seen: Only(dot))
      }
      if save.edit == nil { return [] }
    }
    let seen = Observed(save)
    guard case .members(let edit) = save.edit else {
      drop(seen: seen)
      return []
    }
    if save.drops || edit.isCleared { drop(seen: seen) }
    reserve(edit.insertionCount)
    edit.forEachMember { element, isIn in
      change(element, isIn: isIn, at: save.dot, seen: seen)
    }
    return []
  }

  package var hasContent: Bool { !isEmpty }

  package var shownValues: [Value]? { isEmpty ? nil : elements }

  package func shows(sameAs other: Self) -> Bool {
    elements == other.elements
  }

  package func content(changedBy part: Self) -> Self {
    ORSetStore(
      part.entries.map { ($0.key, self[$0.key]) }
        .filter { !$0.siblings.isEmpty })
  }

  package var mayContainReferences: Bool { true }

  package func forEachValue(_ body: (Value) -> Void) {
    for entry in entries { body(entry.key) }
  }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for entry in entries {
      for sibling in entry.siblings { body(sibling.dot, nil) }
    }
  }

  package var byteBound: Int {
    entries.reduce(0) {
      $0 + $1.key.byteBound + ByteBound.save * $1.siblings.count
    }
  }

  package func equivocations(with other: Self) -> [Dot] {
    // A set has no payloads that could differ.
    []
  }
}

extension ORSetStore {
  package func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? {
    var target = other.elements
    if case .members(let edit) = edit { target = edit.applied(to: target) }
    let (new, old) = (Set(target), Set(elements))
    if new == old { return nil }
    var difference = SetEdit(
      inserting: Array(new.subtracting(old)),
      removing: Array(old.subtracting(new)))
    if case .members(let edit) = edit { difference.moved = edit.moved }
    return (.members(difference), true)
  }
}

extension ORSetStore {
  package static var hasElements: Bool { true }

  package func elements(changedBy save: EditContext) -> [Value?] {
    var edit = SetEdit()
    if case .members(let members) = save.edit { edit = members }
    var changed: Set<Value> = []
    edit.forEachMember { element, _ in changed.insert(element) }
    if edit.isCleared { changed.formUnion(save.observed?.elements ?? []) }
    if let retraction = save.retraction {
      changed.formUnion(retraction.elements.keys)
    } else if save.drops || edit.isCleared {
      changed.formUnion(entries.map(\.key))
    }
    return Array(changed)
  }

  package func undoContent(
    of element: Value?, by device: DeviceID
  ) -> UndoContent {
    let marks = element.map { self[$0] } ?? Siblings()
    return .siblings(
      UndoSiblings(
        marks.map { .init(dot: $0.dot, value: .bool(true)) }, .any))
  }

  package func edit(
    restoring content: UndoRestoration, by device: DeviceID
  ) -> FieldEdit? {
    guard case .value(let value, let element?) = content else { return nil }
    var edit = SetEdit()
    edit.change(element, isIn: value == .bool(true))
    return .members(edit)
  }
}

// A fragment contains all marks of the elements with a new mark.
extension ORSetStore {
  package static var supportsFragments: Bool { true }

  package var size: Int { count }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    guard missing.receiverHasRemovals else { return nil }
    let part = missing.elements().map { (key: $0, siblings: self[$0]) }
    return (ORSetStore(part), [])
  }

  package mutating func merge(
    part: Self, of fragment: Fragment, seen: some DotSet,
    otherSeen: some DotSet
  ) {
    merge(part: part, lost: fragment.lost, seen: seen, otherSeen: otherSeen)
  }
}

extension FieldState {
  /// The elements of a set, sorted, or an empty array for another kind of
  /// field.
  public var elements: [Value] { store(of: ORSetStore.self)?.elements ?? [] }
}

/// The insertions and removals of a save, after an optional clear.
///
/// If an element changes several times, the last change counts.
public struct SetEdit: Hashable, Sendable {
  // The order of the properties keeps the edit small.
  private var storage = Storage.many([:])

  private enum Storage: Hashable, Sendable {
    /// The only changed element, which most edits have.
    case one(Value, isIn: Bool)
    /// Any other number of changed elements.
    case many([Value: Bool])
  }

  /// Whether the edit first removes every element.
  public internal(set) var isCleared = false

  /// The changed elements, each with whether it is inserted.
  public var members: [Value: Bool] {
    switch storage {
    case .one(let element, let isIn): [element: isIn]
    case .many(let members): members
    }
  }

  /// The elements of an older field that the first edit hides.
  ///
  /// The set showed them until then, so an undo keeps them in the set.
  package internal(set) var moved: Set<Value> = []

  /// Creates an edit without effect.
  public init() {}

  /// Creates an edit that inserts and removes the given elements.
  public init(inserting: [Value], removing: [Value] = []) {
    for element in inserting { change(element, isIn: true) }
    for element in removing { change(element, isIn: false) }
  }

  /// An edit that removes every element.
  public static var clearing: SetEdit {
    var edit = SetEdit()
    edit.isCleared = true
    return edit
  }

  /// Creates an edit that moves elements from an older field into the set.
  ///
  /// - Parameter dropped: Elements that the save drops together with the record
  ///   and that only its undo moves into the set.
  init(moving elements: [Value], dropping dropped: [Value]) {
    self.init(inserting: elements)
    moved = Set(elements + dropped)
  }

  /// The number of inserted elements.
  var insertionCount: Int {
    var count = 0
    forEachMember { _, isIn in count += isIn ? 1 : 0 }
    return count
  }

  /// Whether the edit inserts or removes an element, or `nil` if it does
  /// neither.
  subscript(element: Value) -> Bool? {
    switch storage {
    case .one(let only, let isIn): only == element ? isIn : nil
    case .many(let members): members[element]
    }
  }

  /// Calls `body` with each changed element and whether it is inserted.
  func forEachMember(_ body: (Value, Bool) -> Void) {
    switch storage {
    case .one(let element, let isIn): body(element, isIn)
    case .many(let members):
      for (element, isIn) in members { body(element, isIn) }
    }
  }

  /// Inserts or removes an element.
  mutating func change(_ element: Value, isIn: Bool) {
    switch exchange(&storage, with: .many([:])) {
    case .one(let only, let wasIn):
      storage =
        only == element
        ? .one(only, isIn: isIn) : .many([only: wasIn, element: isIn])
    case .many(var members):
      if members.isEmpty { return storage = .one(element, isIn: isIn) }
      // The only reference, so the members are changed in place.
      members[element] = isIn
      storage = .many(members)
    }
  }

  /// Returns the sorted elements of a set after the edit, if its elements
  /// before the edit are `elements`.
  public func applied(to elements: [Value]) -> [Value] {
    var result = isCleared ? [] : Set(elements)
    forEachMember { element, isIn in
      if isIn { result.insert(element) } else { result.remove(element) }
    }
    return result.sorted()
  }
}

extension SetEdit: CustomStringConvertible {
  /// Whether the set is cleared, and the changed elements.
  public var description: String {
    "SetEdit(isCleared: \(isCleared), members: \(members))"
  }
}

extension SetEdit: KindEdit {
  var mayContainReferences: Bool { true }

  var removes: Bool {
    switch storage {
    case .one(_, let isIn): isCleared || !isIn
    case .many(let members): isCleared || members.values.contains(false)
    }
  }

  var byteBound: Int {
    var bound = 0
    forEachMember { element, isIn in
      if isIn { bound += ByteBound.save + element.byteBound }
    }
    return bound
  }

  var canonical: SetEdit {
    var isCanonical = true
    forEachMember { element, _ in
      if !element.isCanonical { isCanonical = false }
    }
    if isCanonical { return self }
    var edit = self
    edit.storage = .many([:])
    forEachMember { edit.change($0.canonical, isIn: $1) }
    return edit
  }

  mutating func append(_ later: SetEdit) -> Bool {
    if later.isCleared { (isCleared, storage) = (true, .many([:])) }
    later.forEachMember { change($0, isIn: $1) }
    if !later.moved.isEmpty { moved.formUnion(later.moved) }
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(isCleared ? 5 : 4)
    func add(_ element: Value, _ isIn: Bool) {
      digest.add(element)
      digest.add(isIn ? 1 : 0)
    }
    switch storage {
    case .one(let element, let isIn): add(element, isIn)
    case .many(let members):
      for (element, isIn) in members.sorted(byValue: { $0.key }) {
        add(element, isIn)
      }
    }
  }
}

// Each element: its value and, for each mark, the reference to its save with a
// flag if another mark follows. In a stored fragment, the removed elements
// follow.
extension ORSetStore {
  package func write(to writer: inout FieldWriter) {
    writer.head(count)
    for (element, marks) in contents {
      writer.out.value(element)
      for (i, mark) in marks.enumerated() {
        writer.reference(
          to: mark.dot, isFirst: i == 0,
          flags: (i < marks.count - 1 ? 1 : 0, bits: 1))
      }
    }
    guard writer.kind == .stored, let lost = writer.fragment?.lost else {
      return
    }
    writer.out.varint(lost.count)
    for element in lost { writer.out.value(element) }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 2, "elements")
    // A receiver accepts or refuses a fragment of a set as a whole.
    reader.fragment.isWhole = true
    var elements: [Entry] = []
    if reader.isBuilding { elements.reserveCapacity(reader.count) }
    var previous: Value?
    for _ in 0..<reader.count {
      let element = try reader.readElement(after: &previous)
      let marks = try readMarks(from: &reader)
      if reader.isBuilding { elements.append((element, marks)) }
    }
    if reader.isFragment, reader.bytes.kind == .stored {
      previous = nil
      for _ in 0..<(try reader.bytes.count()) {
        let element = try reader.readElement(after: &previous)
        if reader.isBuilding { reader.fragment.lost.append(element) }
      }
    }
    return ORSetStore(elements)
  }

  /// Reads the marks of an element.
  private static func readMarks(
    from reader: inout FieldReader
  ) throws(WireError) -> Siblings<AddMark> {
    var marks: [Siblings<AddMark>.Element] = []
    var (isFirst, hasMore) = (true, true)
    while hasMore {
      let (index, more) = try reader.reference(isFirst: isFirst, flags: 1)
      let dot = reader.storeDot(at: index).dot
      hasMore = more == 1
      // Most elements have a single mark, without an array.
      if isFirst, !hasMore { return Siblings(AddMark(), at: dot) }
      isFirst = false
      if reader.isBuilding { marks.append(.init(dot: dot, payload: AddMark())) }
    }
    return Siblings(sorted: marks)
  }
}

extension FieldReader {
  /// Reads an element, which must be greater than the previous one.
  fileprivate mutating func readElement(
    after previous: inout Value?
  ) throws(WireError) -> Value {
    let start = bytes.offset
    guard let element = try bytes.value(),
      previous.map({ $0 < element }) ?? true
    else {
      throw bytes.error(
        .notCanonical, "sorted elements, none of them unset", at: start)
    }
    previous = element
    return element
  }
}
