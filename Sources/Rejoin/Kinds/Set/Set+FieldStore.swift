// SPDX-License-Identifier: Apache-2.0

extension DotMap: FieldStore {
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
        mark(element, isIn: false, at: save.dot, seen: Only(dot))
      }
      if save.edit == nil { return [] }
    }
    let seen = Observed(save)
    guard case .members(let edit) = save.edit else {
      drop(seen: seen)
      return []
    }
    if save.drops || edit.isCleared { drop(seen: seen) }
    for (element, isIn) in edit.members {
      mark(element, isIn: isIn, at: save.dot, seen: seen)
    }
    return []
  }

  package var hasContent: Bool { !isEmpty }

  package var shownValues: [Value]? { isEmpty ? nil : elements }

  package func shows(sameAs other: Self) -> Bool {
    elements == other.elements
  }

  package func content(changedBy part: Self) -> Self {
    DotMap(
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

extension DotMap {
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

extension DotMap {
  package static var hasElements: Bool { true }

  package func elements(changedBy save: EditContext) -> [Value?] {
    var edit = SetEdit()
    if case .members(let members) = save.edit { edit = members }
    var changed = Set(edit.members.keys)
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
    edit.members[element] = value == .bool(true)
    return .members(edit)
  }
}

// A fragment contains all marks of the elements with a new mark.
extension DotMap {
  package static var supportsFragments: Bool { true }

  package var size: Int { count }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    guard missing.hasRemovals else { return nil }
    let part = missing.elements().map { (key: $0, siblings: self[$0]) }
    return (DotMap(part), [])
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
  public var elements: [Value] { store(of: DotMap.self)?.elements ?? [] }
}
