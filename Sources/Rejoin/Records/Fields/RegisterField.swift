// SPDX-License-Identifier: Apache-2.0

extension Entity {
  /// Declares a register, the default kind of field.
  ///
  /// The register reads as `nil` if it is unset or contains a value of another
  /// type, such as an explicit null. Writing `nil` unsets it. To write a null,
  /// or to distinguish it from an unset register, declare the field
  /// `of: Value.self`.
  ///
  /// - Parameters:
  ///   - name: The stored name of the field.
  ///   - type: The type of its values.
  ///   - older: The fields of older app versions to read until this field is
  ///     written.
  public static func register<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    fallingBackTo older: OlderField<V>...
  ) -> Field<Self, MVRegister<V>> { Field(name, fallingBackTo: older) }

  /// Declares the register of the wrapped type, because every register is
  /// optional.
  public static func register<V: FieldValue>(
    _ name: String, of type: V?.Type, fallingBackTo older: OlderField<V>...
  ) -> Field<Self, MVRegister<V>> { Field(name, fallingBackTo: older) }

  /// Declares a *quiet* register, whose concurrent writes are neither listed as
  /// conflicts nor reported.
  ///
  /// Use it for a position, a cursor or a last-seen time, where only the latest
  /// write matters. The field is stored, joined and read like any other
  /// register, so a later version of the app can change the declaration without
  /// a migration. In an editing context, a write of the field supersedes all
  /// received concurrent writes, and none of these writes causes a conflict. If
  /// another field or a deletion causes one, the policies `error`, `rollback`
  /// and `serverWins` treat the write like any other edit.
  ///
  /// The field stores and sends its concurrent writes, at most one from each
  /// device. If a clock is ahead by more than the maximum skew, a losing write
  /// can appear again after the winner is overwritten. If a server is the
  /// authority for the field, declare it with `register`: a pull of the
  /// server's value does not overwrite a local edit, and a quiet register does
  /// not list the conflict.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    fallingBackTo older: OlderField<V>...
  ) -> Field<Self, MVRegister<V>> {
    Field(name, isQuiet: true, fallingBackTo: older)
  }

  /// Declares the register of the wrapped type, because every register is
  /// optional.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V?.Type, fallingBackTo older: OlderField<V>...
  ) -> Field<Self, MVRegister<V>> {
    Field(name, isQuiet: true, fallingBackTo: older)
  }

  /// Declares a reference to a record of this or another entity.
  ///
  /// - Parameters:
  ///   - name: The stored name of the field.
  ///   - entity: The entity of the record.
  ///   - older: The fields of older app versions to read until this field is
  ///     written.
  public static func toOne<E: Entity>(
    _ name: String, _ entity: E.Type,
    fallingBackTo older: OlderField<Reference<E>>...
  ) -> Field<Self, MVRegister<Reference<E>>> {
    Field(name, fallingBackTo: older)
  }
}

extension MVRegister: FieldType {
  public static var kind: FieldKind { .register }

  /// Returns the visible value, or `nil` if the register is unset or its value
  /// has another type.
  @inlinable
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Element? {
    // Most fields have no older version.
    if field.versions.older.isEmpty {
      return record.value(of: field.key).flatMap { Element(fieldValue: $0) }
    }
    return field.versions.value(in: record)
  }

  public static func showsSame<Owner>(
    _ field: Field<Owner, Self>, in a: Record, _ b: Record
  ) -> Bool {
    func conflicts(_ record: Record) -> [Value?] {
      field.isQuiet
        ? []
        : record.conflictingValues(of: field.key)
          .converted { field.versions.element($0, of: field.key) }
          .map { $0?.fieldValue }
    }
    return read(field, of: a)?.fieldValue == read(field, of: b)?.fieldValue
      && conflicts(a) == conflicts(b)
  }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> Element? {
    field.versions.value { record.target.edited($0, of: record.id).shown }
  }

  /// Returns the value after the edits so far, which a ``RecordEditor`` can
  /// also set.
  public static func editor<Owner>(
    of field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> Element? {
    read(field, in: record)
  }
}

extension FieldHandle {
  /// Returns the value that a register contains although it reads as `nil`.
  func hidden<Element>(by versions: FieldVersions<Element>) -> Value? {
    let value = edited.valuesWithDangling?.first
    let isShown = edited.visible(value).flatMap {
      versions.element($0, of: versions.key)
    }
    return isShown == nil ? value : nil
  }

  /// Assigns a value to a register.
  @usableFromInline
  func assign<Element>(_ value: Value?, _ versions: FieldVersions<Element>) {
    if let form = target.form {
      form.assign(value, to: key, of: id) {
        shown(by: versions, withEdits: $0)
      }
    } else {
      perform(.write(value ?? hidden(by: versions)))
    }
  }

  /// Returns what a register shows, which may come from an older field.
  ///
  /// - Parameter withEdits: Whether to include the edits of the register
  ///   itself.
  func shown<Element>(
    by versions: FieldVersions<Element>, withEdits: Bool
  ) -> Value? {
    versions.value { key in
      let field = target.edited(key, of: id)
      return key == versions.key && !withEdits
        ? field.unedited.shown : field.shown
    }?.fieldValue.canonical
  }
}

extension EditedField {
  /// The value of a register.
  package var value: Value? {
    if case .write(let value) = edit { return value }
    return visible(stored.value)
  }

  /// The values that a newer field shows for this one, like
  /// ``FieldState/shownValues``.
  package var shown: [Value]? {
    let values =
      stored.kind == .set && edit != nil ? elements : valuesWithDangling
    return values?.filter { visible($0) != nil }
  }

  /// The same values, including references to records that do not exist.
  var valuesWithDangling: [Value]? {
    if case .write(let value) = edit { return value.map { [$0] } ?? [] }
    return stored.shownValues
  }
}

extension Record {
  /// Returns the visible value of a register.
  ///
  /// A key without a schema is enough, as for the other kinds of fields:
  ///
  ///     record.value(of: FieldKey("name", .register))  // "Ada"
  public func value(of key: FieldKey) -> Value? {
    guard let write = visibleWrite(of: key) else { return nil }
    return visible(write.payload.value)
  }

  /// Returns the values of concurrent writes that differ from the visible one,
  /// each once, sorted.
  ///
  /// The first value is `nil` if the field shows a value and a write unset it.
  /// A record has no schema, so it also lists the values of a field that the
  /// schema declares as `lww`.
  public func conflictingValues(of key: FieldKey) -> [Value?] {
    let showsValue = value(of: key) != nil
    return self[key].conflicts
      .filter { $0 == nil ? showsValue : visible($0) != nil }
  }

  /// Returns the visible write of a register, with its author and time.
  public func write(of key: FieldKey) -> RegisterWrite? {
    visibleWrite(of: key).map { RegisterWrite($0) }
  }

  /// Returns the writes of a register that no other write superseded, the
  /// visible one first.
  public func writes(of key: FieldKey) -> [RegisterWrite] {
    self[key].writes
      .sorted { ($1.time, $1.dot) < ($0.time, $0.dot) }
  }
}

extension TypedRecord {
  /// Returns the values of concurrent writes that differ from the visible one,
  /// sorted.
  ///
  ///     replica[Profile.self, "ada"]?.conflictingValues(of: \.name)  // [nil, "Ada L."]
  ///
  /// The first value is `nil` if a write unset the field. For a field declared
  /// with `lww`, the list is empty.
  public func conflictingValues<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> [V?] {
    let field = fields[field]
    if field.isQuiet { return [] }
    return record.conflictingValues(of: field.key).converted {
      field.versions.element($0, of: field.key)
    }
  }

  /// Returns the visible write of a register, with its author and time.
  public func write<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> RegisterWrite? {
    record.write(of: fields[field].key)
  }

  /// Returns the writes of a register that no other write superseded, the
  /// visible one first.
  public func writes<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> [RegisterWrite] {
    record.writes(of: fields[field].key)
  }
}

/// The ID of a record of a given entity.
public struct Reference<Target: Entity>: FieldValue, Hashable {
  /// The key within the entity.
  public let key: String

  /// Creates a reference to the record with a key.
  public init(_ key: String) { self.key = key }

  /// The ID of the record.
  public var id: RecordID { RecordID(Target.entityName, key) }

  public var fieldValue: Value { .reference(id) }

  public init?(fieldValue value: Value) {
    guard case .reference(let id) = value,
      UTF8Order.equal(id.entity, Target.entityName)
    else { return nil }
    key = id.key
  }
}
