// SPDX-License-Identifier: Apache-2.0

/// Edits one record within a save, or in an editing context.
@dynamicMemberLookup
public struct RecordEditor<Owner: Entity> {
  let id: RecordID
  let target: any EditTarget
  let fields: DeclaredFields<Owner>

  package init(
    id: RecordID, target: any EditTarget, fields: DeclaredFields<Owner>
  ) {
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
    get { fields[field].element { target.shown($0, in: id) } }
    nonmutating set {
      target.perform(
        .write(newValue?.fieldValue), on: fields[field].key, of: id)
    }
  }

  /// Edits a counter.
  public subscript(
    dynamicMember field: KeyPath<Owner, Field<Owner, Counter>>
  ) -> CounterEditor {
    CounterEditor(id: id, key: fields[field].key, target: target)
  }

  /// Edits a set.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, AddWins<V>>>
  ) -> SetEditor<V> {
    SetEditor(id: id, key: fields[field].key, target: target)
  }

  /// Edits a ledger.
  public subscript(
    dynamicMember field: KeyPath<Owner, Field<Owner, Entries>>
  ) -> LedgerEditor {
    LedgerEditor(id: id, key: fields[field].key, target: target)
  }
}

/// Edits a counter within a save, or in an editing context.
public struct CounterEditor {
  let id: RecordID
  let key: FieldKey
  let target: any EditTarget

  /// The value after the edits so far.
  public var value: Int64 { target.count(of: key, in: id) }

  /// Increments the counter by `amount`, which may be negative.
  ///
  /// On overflow the save throws ``SaveError/counterOverflow(_:field:)``; an
  /// editing context reports it.
  public func increment(by amount: Int64 = 1) {
    target.perform(.count(CounterEdit(by: amount)), on: key, of: id)
  }

  /// Decrements the counter by `amount`, which may be negative.
  public func decrement(by amount: Int64 = 1) {
    // `Int64.min` has no negation.
    guard amount != .min else {
      return target.fail(.counterOverflow(id, field: key.name))
    }
    increment(by: -amount)
  }

  /// Cancels the increments and decrements seen here; concurrent ones survive.
  public func reset() {
    target.perform(
      .count(CounterEdit(by: 0, isReset: true)), on: key, of: id)
  }

  /// Resets the counter and increments it by `value`, in one save.
  public func set(to value: Int64) {
    target.perform(
      .count(CounterEdit(by: value, isReset: true)), on: key, of: id)
  }
}

/// Edits a set within a save, or in an editing context.
///
/// If a save inserts and removes the same element, the last call counts.
public struct SetEditor<Element: FieldValue> {
  let id: RecordID
  let key: FieldKey
  let target: any EditTarget

  /// The elements after the edits so far, sorted.
  public var elements: [Element] {
    target.elements(of: key, in: id).compactMap { Element($0) }
  }

  /// Whether the set contains an element after the edits so far.
  public func contains(_ element: Element) -> Bool {
    target.elements(of: key, in: id).contains(element.fieldValue)
  }

  /// Inserts an element.
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

  /// Removes every element seen here; concurrent insertions survive.
  public func removeAll() {
    target.perform(.members(.clearing), on: key, of: id)
  }
}

/// Edits a ledger within a save, or in an editing context.
public struct LedgerEditor {
  let id: RecordID
  let key: FieldKey
  let target: any EditTarget

  /// The total after the edits so far.
  public var total: Int64 { target.total(of: key, in: id) }

  /// Appends an entry; to undo an earlier one, append its negative amount.
  public func append(_ amount: Int64, memo: Value? = nil) {
    var change = LedgerEdit()
    change.append(amount, memo: memo)
    target.perform(.append(change), on: key, of: id)
  }
}
