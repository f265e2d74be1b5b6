// SPDX-License-Identifier: Apache-2.0

extension Entity {
  /// Declares a ledger.
  public static func ledger(_ name: String) -> Field<Self, Ledger> {
    Field(name)
  }
}

extension Ledger: FieldType {
  public typealias Element = Int64

  /// Returns the total of the ledger.
  @inlinable
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Int64 {
    record.total(of: field.key)
  }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> Int64 {
    record.handle(field).edited.total
  }

  public static func showsSame<Owner>(
    _ field: Field<Owner, Self>, in a: Record, _ b: Record
  ) -> Bool {
    read(field, of: a) == read(field, of: b)
      && a.entries(of: field.key) == b.entries(of: field.key)
  }

  @inlinable
  public static func editor<Owner>(
    of field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> LedgerEditor {
    LedgerEditor(field: record.handle(field))
  }
}

/// An editor of a ledger within a save or an editing context.
public struct LedgerEditor {
  let field: FieldHandle

  @usableFromInline init(field: FieldHandle) { self.field = field }

  /// The total after the edits so far.
  public var total: Int64 { field.edited.total }

  /// Appends an entry.
  ///
  /// To undo an earlier entry, append its negative amount.
  public func append(_ amount: Int64, memo: Value? = nil) {
    var change = LedgerEdit()
    change.append(amount, memo: memo)
    field.perform(.append(change))
  }
}

extension EditedField {
  /// The total of a ledger.
  package var total: Int64 {
    if case .append(let edit) = edit { return edit.applied(to: stored.total) }
    return stored.total
  }
}

extension Record {
  /// The total of a ledger, or zero for another kind of field.
  public func total(of key: FieldKey) -> Int64 { self[key].total }

  /// Returns the entries of a ledger that are not folded, ordered by time.
  public func entries(of key: FieldKey) -> [LedgerEntry] {
    self[key].store(of: Ledger.self)?.entries ?? []
  }
}

extension TypedRecord {
  /// Returns the entries of a ledger that are not folded, ordered by time, each
  /// with the save that appended it.
  public func entries(
    of field: KeyPath<Owner, Field<Owner, Ledger>>
  ) -> [LedgerEntry] {
    record.entries(of: fields[field].key)
  }
}
