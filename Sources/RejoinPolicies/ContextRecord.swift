//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// A record in an editing context, with the fields that its entity declares.
@dynamicMemberLookup
public struct ContextRecord<Owner: Entity> {
  let id: RecordID
  let context: EditingContext
  let fields: Owner

  /// Reads or sets a register; `nil` unsets it.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Register<V>>>
  ) -> V? {
    get { read(fields[keyPath: field]) }
    nonmutating set {
      context.set(
        newValue?.fieldValue, for: fields[keyPath: field].key, in: id)
    }
  }

  /// Reads or sets a register that keeps the last write; `nil` unsets it.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, LastWrite<V>>>
  ) -> V? {
    get { read(fields[keyPath: field]) }
    nonmutating set {
      context.set(
        newValue?.fieldValue, for: fields[keyPath: field].key, in: id)
    }
  }

  /// The value of a counter, with the edits so far.
  public func count(
    _ field: KeyPath<Owner, Field<Owner, Counter>>
  ) -> Int64 {
    let key = fields[keyPath: field].key
    let record = context.current(id)
    let stored = record.fetched.exists ? record.fetched[key].count : 0
    guard case .count(let edit) = record.edits[key] else { return stored }
    return edit.applied(to: stored)
  }

  /// Raises a counter, or lowers it by a negative amount.
  ///
  /// - Returns: Whether the sum of the edits so far bears it; otherwise nothing
  ///   changes.
  @discardableResult
  public func increment(
    _ field: KeyPath<Owner, Field<Owner, Counter>>, by amount: Int64 = 1
  ) -> Bool {
    context.apply(
      .count(CounterEdit(by: amount)), to: fields[keyPath: field].key, in: id)
  }

  /// Adds an element to a set.
  public func insert<V: FieldValue>(
    _ element: V, into field: KeyPath<Owner, Field<Owner, AddWins<V>>>
  ) {
    context.apply(
      .members(SetEdit(inserting: [element.fieldValue])),
      to: fields[keyPath: field].key, in: id)
  }

  /// Removes an element from a set.
  public func remove<V: FieldValue>(
    _ element: V, from field: KeyPath<Owner, Field<Owner, AddWins<V>>>
  ) {
    context.apply(
      .members(SetEdit(inserting: [], removing: [element.fieldValue])),
      to: fields[keyPath: field].key, in: id)
  }

  /// Appends an entry to a ledger.
  public func append(
    _ amount: Int64, memo: Value? = nil,
    to field: KeyPath<Owner, Field<Owner, Entries>>
  ) {
    var edit = LedgerEdit()
    edit.append(amount, memo: memo)
    context.apply(.append(edit), to: fields[keyPath: field].key, in: id)
  }

  /// Deletes the record.
  public func delete() { context.delete(id) }

  private func read<Kind: RegisterType>(
    _ field: Field<Owner, Kind>
  ) -> Kind.Element? {
    field.element(context.current(id).shown)
  }
}
