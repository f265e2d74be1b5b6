// SPDX-License-Identifier: Apache-2.0

extension Entity {
  /// Declares a set in which a concurrent insertion wins.
  public static func set<V: FieldValue>(
    _ name: String, of type: V.Type = V.self
  ) -> Field<Self, ORSet<V>> { Field(name) }

  /// Declares a set of references.
  public static func toMany<E: Entity>(
    _ name: String, _ entity: E.Type
  ) -> Field<Self, ORSet<Reference<E>>> { Field(name) }
}

extension ORSet: FieldType {
  public static var kind: FieldKind { .set }

  /// The elements that are values of the type, sorted.
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> [Element] {
    record.elements(of: field.key.name).compactMap { Element($0) }
  }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> [Element] {
    record.handle(field).edited.elements.compactMap { Element($0) }
  }

  public static func editor<Owner>(
    of field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> SetEditor<Element> {
    SetEditor(field: record.handle(field))
  }
}

/// Edits a set within a save, or in an editing context.
///
/// If a save inserts and removes the same element, the last call counts.
public struct SetEditor<Element: FieldValue> {
  let field: FieldHandle

  /// The elements after the edits so far, sorted.
  public var elements: [Element] {
    field.edited.elements.compactMap { Element($0) }
  }

  /// Whether the set contains an element after the edits so far.
  public func contains(_ element: Element) -> Bool {
    field.edited.elements.contains(element.fieldValue)
  }

  /// Inserts an element.
  public func insert(_ element: Element) {
    field.perform(.members(SetEdit(inserting: [element.fieldValue])))
  }

  /// Removes an element.
  public func remove(_ element: Element) {
    field.perform(
      .members(SetEdit(inserting: [], removing: [element.fieldValue])))
  }

  /// Removes every element seen here; concurrent insertions survive.
  public func removeAll() { field.perform(.members(.clearing)) }
}

extension EditedField {
  /// The elements of a set, sorted.
  package var elements: [Value] {
    let elements = dangling.shown(stored.elements)
    if case .members(let edit) = edit { return edit.applied(to: elements) }
    return elements
  }
}

extension Record {
  /// The elements of a set, sorted.
  public func elements(of name: String) -> [Value] {
    dangling.shown(self[FieldKey(name, .set)].elements)
  }

  /// The elements of a set, each with the saves that inserted it.
  public func insertions(of name: String) -> [Value: Set<Dot>] {
    let set = self[FieldKey(name, .set)].store(of: DotMap.self) ?? DotMap()
    let saves = set.entries.map { ($0, Set($1.map(\.dot))) }
    return Dictionary(uniqueKeysWithValues: saves)
      .filter { visible($0.key) != nil }
  }
}

extension TypedRecord {
  /// The elements of a set, sorted, each with the saves that inserted it.
  public func insertions<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, ORSet<V>>>
  ) -> [(element: V, saves: Set<Dot>)] {
    let saves = record.insertions(of: fields[field].key.name)
    return saves.sorted { $0.key < $1.key }.compactMap { value, saves in
      V(value).map { ($0, saves) }
    }
  }
}

extension Set<RecordID> {
  /// The elements that are shown if these records do not exist.
  fileprivate func shown(_ elements: [Value]) -> [Value] {
    isEmpty ? elements : elements.filter { !hides($0) }
  }
}
