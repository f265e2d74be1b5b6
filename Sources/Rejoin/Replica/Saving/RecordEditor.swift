// SPDX-License-Identifier: Apache-2.0

/// Edits one record within a save, or in an editing context.
@dynamicMemberLookup
public struct RecordEditor<Owner: Entity> {
  let id: RecordID
  let target: any EditTarget
  let fields: Owner

  package init(id: RecordID, target: any EditTarget, fields: Owner) {
    self.id = id
    self.target = target
    self.fields = fields
  }

  /// Creates the record without setting a field, or keeps it alive.
  public func touch() { target.touch(id) }

  /// Deletes the record.
  public func delete() { target.delete(id) }

  /// Reads or writes a register; `nil` unsets it.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Register<V>>>
  ) -> V? {
    get { read(fields[keyPath: field]) }
    nonmutating set { write(newValue, to: fields[keyPath: field].key) }
  }

  /// Reads or writes a register that keeps the last write; `nil` unsets it.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, LastWrite<V>>>
  ) -> V? {
    get { read(fields[keyPath: field]) }
    nonmutating set { write(newValue, to: fields[keyPath: field].key) }
  }

  /// Edits a counter.
  public subscript(
    dynamicMember field: KeyPath<Owner, Field<Owner, Counter>>
  ) -> CounterEditor {
    CounterEditor(id: id, key: fields[keyPath: field].key, target: target)
  }

  /// Edits a set in which a concurrent insertion wins.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, AddWins<V>>>
  ) -> SetEditor<V> {
    SetEditor(id: id, key: fields[keyPath: field].key, target: target)
  }

  /// Edits a set in which a concurrent removal wins.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, RemoveWins<V>>>
  ) -> SetEditor<V> {
    SetEditor(id: id, key: fields[keyPath: field].key, target: target)
  }

  /// Edits a ledger.
  public subscript(
    dynamicMember field: KeyPath<Owner, Field<Owner, Entries>>
  ) -> LedgerEditor {
    LedgerEditor(id: id, key: fields[keyPath: field].key, target: target)
  }

  private func read<Kind: RegisterType>(
    _ field: Field<Owner, Kind>
  ) -> Kind.Element? {
    field.element { target.shown($0, in: id) }
  }

  private func write(_ value: (some FieldValue)?, to key: FieldKey) {
    target.perform(.write(value?.fieldValue), on: key, of: id)
  }
}

/// Edits a counter within a save, or in an editing context.
public struct CounterEditor {
  let id: RecordID
  let key: FieldKey
  let target: any EditTarget

  /// The value that the edits so far lead to.
  public var value: Int64 { target.count(of: key, in: id) }

  /// Raises the counter, or lowers it by a negative amount.
  ///
  /// Where a sum would overflow, the save throws
  /// ``SaveError/counterOverflow(_:field:)``; a context reports it.
  public func increment(by amount: Int64 = 1) {
    target.perform(.count(CounterEdit(by: amount)), on: key, of: id)
  }

  /// Lowers the counter.
  public func decrement(by amount: Int64 = 1) {
    guard amount != .min else {
      return target.fail(.counterOverflow(id, field: key.name))
    }
    increment(by: -amount)
  }

  /// Cancels every change that this device has seen; others' concurrent changes
  /// survive.
  public func reset() {
    target.perform(
      .count(CounterEdit(by: 0, isReset: true)), on: key, of: id)
  }

  /// Makes the value `value`, by a reset and a change.
  public func set(to value: Int64) {
    target.perform(
      .count(CounterEdit(by: value, isReset: true)), on: key, of: id)
  }
}

/// Edits a set within a save, or in an editing context.
///
/// The last verb on an element counts.
public struct SetEditor<Element: FieldValue> {
  let id: RecordID
  let key: FieldKey
  let target: any EditTarget

  /// The elements that the edits so far lead to, sorted.
  public var elements: [Element] {
    target.elements(of: key, in: id).compactMap { Element($0) }
  }

  /// Whether the edits so far lead to a set with an element.
  public func contains(_ element: Element) -> Bool {
    target.elements(of: key, in: id).contains(element.fieldValue)
  }

  /// Adds an element.
  public func insert(_ element: Element) {
    target.perform(
      .members(SetEdit(inserting: [element.fieldValue])), on: key, of: id)
  }

  /// Removes an element.
  public func remove(_ element: Element) {
    target.perform(
      .members(SetEdit(inserting: [], removing: [element.fieldValue])),
      on: key, of: id)
  }

  /// Removes every element that this device has seen.
  public func removeAll() {
    target.perform(.members(.clearing), on: key, of: id)
  }
}

/// Edits a ledger within a save, or in an editing context.
public struct LedgerEditor {
  let id: RecordID
  let key: FieldKey
  let target: any EditTarget

  /// The total that the edits so far lead to.
  public var total: Int64 { target.total(of: key, in: id) }

  /// Appends an entry; a negative amount reverses an earlier one.
  public func append(_ amount: Int64, memo: Value? = nil) {
    var change = LedgerEdit()
    change.append(amount, memo: memo)
    target.perform(.append(change), on: key, of: id)
  }
}
