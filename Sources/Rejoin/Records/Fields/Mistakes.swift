// SPDX-License-Identifier: Apache-2.0

// The compiler chooses these members only for expressions that would not
// compile anyway. Each message explains how to fix the expression.

extension RecordEditor {
  @available(
    *, unavailable,
    message: """
      an assignment to a counter would lose what other devices count: use \
      `increment(by:)`, `decrement(by:)` or `set(to:)`, and read `value`
      """
  )
  public subscript<Other>(
    dynamicMember field: KeyPath<Owner, Field<Owner, PNCounter>>
  ) -> Other {
    get { fatalError() }
    nonmutating set {}
  }

  @available(
    *, unavailable,
    message: """
      an assignment to a set would remove what other devices insert: use \
      `insert(_:)`, `remove(_:)` or `removeAll()`, and read `elements`
      """
  )
  public subscript<Element: FieldValue, Other>(
    dynamicMember field: KeyPath<Owner, Field<Owner, ORSet<Element>>>
  ) -> Other {
    get { fatalError() }
    nonmutating set {}
  }

  @available(
    *, unavailable,
    message: """
      an assignment to a ledger would lose its entries: use \
      `append(_:memo:)`, and read `total`
      """
  )
  public subscript<Other>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Ledger>>
  ) -> Other {
    get { fatalError() }
    nonmutating set {}
  }

  @available(
    *, unavailable,
    message: """
      the field refers to a record: use `Reference("key")` or `nil`, and read \
      `key` of the reference
      """
  )
  public subscript<Target: Entity, Other>(
    dynamicMember field: KeyPath<
      Owner, Field<Owner, MVRegister<Reference<Target>>>
    >
  ) -> Other {
    get { fatalError() }
    nonmutating set {}
  }

  @available(
    *, unavailable,
    message: """
      the field has values of another type: convert to an optional of the type \
      that the entity declares
      """
  )
  public subscript<Element: FieldValue, Other>(
    dynamicMember field: KeyPath<Owner, Field<Owner, MVRegister<Element>>>
  ) -> Other {
    get { fatalError() }
    nonmutating set {}
  }
}

extension Entity {
  @available(
    *, unavailable,
    message: """
      the entity has no field `id`: the key of a record that was read is \
      `record.id`
      """
  )
  public var id: Field<Self, MVRegister<String>> { fatalError() }

  @available(
    *, unavailable,
    message: """
      the entity has no field `key`: the key of a record that was read is \
      `record.id`
      """
  )
  public var key: Field<Self, MVRegister<String>> { fatalError() }
}
