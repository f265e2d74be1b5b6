// SPDX-License-Identifier: Apache-2.0

extension Entity {
  /// Declares a set whose insertions win over concurrent removals.
  ///
  /// - Parameters:
  ///   - name: The stored name of the field.
  ///   - type: The type of its elements.
  ///   - older: The fields of older app versions to read until this field is
  ///     written, and the older types of its own elements.
  public static func set<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    fallingBackTo older: OlderField<V>...
  ) -> Field<Self, ORSet<V>> { Field(name, fallingBackTo: older) }

  /// Declares a set of references.
  ///
  /// - Parameters:
  ///   - name: The stored name of the field.
  ///   - entity: The entity of the records.
  ///   - older: The fields of older app versions to read until this field is
  ///     written, and the older types of its own elements.
  public static func toMany<E: Entity>(
    _ name: String, _ entity: E.Type,
    fallingBackTo older: OlderField<Reference<E>>...
  ) -> Field<Self, ORSet<Reference<E>>> { Field(name, fallingBackTo: older) }
}

extension ORSet: FieldType {
  public static var kind: FieldKind { .set }

  /// Returns the elements that are values of the type, sorted.
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> [Element] {
    let versions = field.versions
    let isWritten = versions.older.isEmpty || record.hasField(versions.key)
    return versions.elements(
      isWritten ? record.elements(of: versions.key) : nil, record.shown)
  }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> [Element] {
    editor(of: field, in: record).elements
  }

  public static func showsSame<Owner>(
    _ field: Field<Owner, Self>, in a: Record, _ b: Record
  ) -> Bool {
    read(field, of: a).map(\.fieldValue) == read(field, of: b).map(\.fieldValue)
  }

  @inlinable
  public static func editor<Owner>(
    of field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> SetEditor<Element> {
    SetEditor(field: record.handle(field), versions: field.versions)
  }
}

/// An editor of a set within a save or an editing context.
///
/// If a save inserts and removes the same element, the last call counts.
public struct SetEditor<Element: FieldValue> {
  let field: FieldHandle
  let versions: FieldVersions<Element>

  @usableFromInline
  init(field: FieldHandle, versions: FieldVersions<Element>) {
    (self.field, self.versions) = (field, versions)
  }

  /// The elements after the edits so far, sorted.
  public var elements: [Element] {
    let edited = field.edited
    return versions.elements(isWritten(edited) ? edited.elements : nil) {
      field.target.edited($0, of: field.id).shown
    }
  }

  /// Returns whether the set shows its own elements instead of those of an
  /// older field.
  private func isWritten(_ edited: EditedField) -> Bool {
    versions.older.isEmpty || edited.edit != nil || !edited.stored.isInitial
  }

  /// Returns whether the set contains an element after the edits so far.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of elements, or
  ///   O(*n* log *n*) if the set shows an older field or may contain elements
  ///   of an older type.
  public func contains(_ element: Element) -> Bool {
    let edited = field.edited
    let value = element.fieldValue.canonical
    if isWritten(edited), edited.contains(value) { return true }
    return (versions.hasOlderElements || !isWritten(edited))
      && elements.contains { $0.fieldValue.canonical == value }
  }

  /// Inserts an element.
  ///
  /// Two Unicode forms of a word are two elements, although Swift's `==` calls
  /// them equal. Normalize texts before you write them.
  public func insert(_ element: Element) {
    perform(SetEdit(inserting: [element.fieldValue]))
  }

  /// Removes an element.
  public func remove(_ element: Element) {
    perform(SetEdit(inserting: [], removing: values(of: element)))
  }

  /// Returns the values that may represent an element in the set.
  ///
  /// An older version of the app may store the element as another value.
  private func values(of element: Element) -> [Value] {
    let value = element.fieldValue
    if !versions.hasOlderElements { return [value] }
    return [value]
      + field.edited.elements.filter {
        versions.element($0, of: versions.key)?.fieldValue == value
      }
  }

  /// Removes every element that this replica has seen.
  ///
  /// Concurrent insertions survive.
  public func removeAll() { perform(.clearing) }

  private func perform(_ edit: SetEdit) {
    if !versions.older.isEmpty, !isWritten(field.edited) { moveOlder() }
    field.perform(.members(edit))
  }

  /// Moves the elements of the older field into the set, because the first edit
  /// hides that field.
  ///
  /// They include references to records that may still arrive. If the record is
  /// created again, only the undo moves them.
  private func moveOlder() {
    let (target, id) = (field.target, field.id)
    func older(_ values: (FieldKey) -> [Value]?) -> [Value] {
      versions.olderElements(values).map { $0.fieldValue.canonical }
    }
    let shown = older { target.edited($0, of: id).valuesWithDangling }
    let dropped = older { target.hidden($0, of: id).shownValues }
    if !shown.isEmpty || !dropped.isEmpty {
      field.perform(.members(SetEdit(moving: shown, dropping: dropped)))
    }
  }
}

extension EditedField {
  /// Returns whether a set contains an element.
  func contains(_ element: Value) -> Bool {
    if case .members(let edit) = edit {
      if let isIn = edit[element] { return isIn }
      if edit.isCleared { return false }
    }
    return !hides(element) && stored.contains(element)
  }

  /// The elements of a set, sorted.
  package var elements: [Value] {
    let elements = stored.elements.filter { !hides($0) }
    if case .members(let edit) = edit { return edit.applied(to: elements) }
    return elements
  }
}

extension Record {
  /// The elements of a set, sorted.
  public func elements(of key: FieldKey) -> [Value] {
    dangling.shown(self[key].elements)
  }

  /// Returns the elements of a set, each with the saves that inserted it.
  public func insertions(of key: FieldKey) -> [Value: Set<Dot>] {
    let set = self[key].store(of: ORSetStore.self) ?? ORSetStore()
    let saves = set.entries.map { ($0, Set($1.map(\.dot))) }
    return Dictionary(uniqueKeysWithValues: saves)
      .filter { visible($0.key) != nil }
  }
}

extension TypedRecord {
  /// Returns the elements of a set, sorted, each with the saves that inserted
  /// it.
  public func insertions<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, ORSet<V>>>
  ) -> [(element: V, saves: Set<Dot>)] {
    let versions = fields[field].versions
    let saves = record.insertions(of: versions.key)
    return saves.sorted { $0.key < $1.key }.compactMap { value, saves in
      versions.element(value, of: versions.key).map { ($0, saves) }
    }
  }
}

extension Set<RecordID> {
  /// Returns the elements to show if these records do not exist.
  fileprivate func shown(_ elements: [Value]) -> [Value] {
    isEmpty ? elements : elements.filter { !hides($0) }
  }
}
