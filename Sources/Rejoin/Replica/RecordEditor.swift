//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// Edits one record within a save.
@dynamicMemberLookup
public struct RecordEditor<Owner: Entity> {
  let id: RecordID
  let edit: Edit
  let fields: Owner

  /// Creates the record without setting a field, or keeps it alive.
  public func touch() { edit.touch(id) }

  /// Deletes the record.
  public func delete() { edit.delete(id) }

  /// Brings the deleted record back with all that it held.
  public func restore() { edit.restore(id) }

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
    CounterEditor(id: id, key: fields[keyPath: field].key, edit: edit)
  }

  /// Edits a set in which a concurrent insertion wins.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, AddWins<V>>>
  ) -> SetEditor<V> {
    SetEditor(id: id, key: fields[keyPath: field].key, edit: edit)
  }

  /// Edits a set in which a concurrent removal wins.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, RemoveWins<V>>>
  ) -> SetEditor<V> {
    SetEditor(id: id, key: fields[keyPath: field].key, edit: edit)
  }

  /// Edits a ledger.
  public subscript(
    dynamicMember field: KeyPath<Owner, Field<Owner, Entries>>
  ) -> LedgerEditor {
    LedgerEditor(id: id, key: fields[keyPath: field].key, edit: edit)
  }

  private func read<Kind: RegisterType>(
    _ field: Field<Owner, Kind>
  ) -> Kind.Element? {
    let stored = edit.stored(id)
    return field.element { key in
      if case .write(let value) = edit.edit(of: key, in: id) { return value }
      return stored?.shown(key) ?? nil
    }
  }

  private func write(_ value: (some FieldValue)?, to key: FieldKey) {
    edit.apply(.write(value?.fieldValue), to: key, of: id)
  }
}

extension Edit {
  /// The record as the replica holds it, unless this save creates it again.
  func stored(_ id: RecordID) -> Record? {
    guard !hides(id), let record = replica.record(id),
      record.exists || pending[id]?.mark == true
    else { return nil }
    return record
  }
}

/// Edits a counter within a save.
public struct CounterEditor {
  let id: RecordID
  let key: FieldKey
  let edit: Edit

  /// The value that the edits so far lead to.
  public var value: Int64 {
    let stored = edit.stored(id)?.count(of: key.name) ?? 0
    guard case .count(let pending) = edit.edit(of: key, in: id) else {
      return stored
    }
    return pending.applied(to: stored)
  }

  /// Raises the counter, or lowers it by a negative amount.
  ///
  /// Where a sum would overflow, the save throws
  /// ``SaveError/counterOverflow(_:field:)``.
  public func increment(by amount: Int64 = 1) {
    edit.apply(.count(CounterEdit(by: amount)), to: key, of: id)
  }

  /// Lowers the counter.
  public func decrement(by amount: Int64 = 1) {
    guard amount != .min else {
      return edit.fail(.counterOverflow(id, field: key.name))
    }
    increment(by: -amount)
  }

  /// Cancels every change that this device has seen; others' concurrent changes
  /// survive.
  public func reset() {
    edit.apply(.count(CounterEdit(by: 0, isReset: true)), to: key, of: id)
  }

  /// Makes the value `target`, by a reset and a change.
  public func set(to target: Int64) {
    edit.apply(.count(CounterEdit(by: target, isReset: true)), to: key, of: id)
  }
}

/// Edits a set within a save.
///
/// The last verb on an element counts.
public struct SetEditor<Element: FieldValue> {
  let id: RecordID
  let key: FieldKey
  let edit: Edit

  /// Adds an element.
  public func insert(_ element: Element) {
    edit.apply(
      .members(SetEdit(inserting: [element.fieldValue])), to: key, of: id)
  }

  /// Removes an element.
  public func remove(_ element: Element) {
    edit.apply(
      .members(SetEdit(inserting: [], removing: [element.fieldValue])),
      to: key, of: id)
  }

  /// Removes every element that this device has seen.
  public func removeAll() {
    edit.apply(.members(.clearing), to: key, of: id)
  }
}

/// Edits a ledger within a save.
public struct LedgerEditor {
  let id: RecordID
  let key: FieldKey
  let edit: Edit

  /// Appends an entry; a negative amount reverses an earlier one.
  public func append(_ amount: Int64, memo: Value? = nil) {
    var change = LedgerEdit()
    change.append(amount, memo: memo)
    edit.apply(.append(change), to: key, of: id)
  }
}
