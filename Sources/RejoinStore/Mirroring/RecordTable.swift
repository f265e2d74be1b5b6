// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A table of the store's file with a row for each existing record of an entity.
///
///     let store = try await ReplicaStore(
///       at: path, schema: [Item.self],
///       tables: [
///         RecordTable(of: Item.self, "items") {
///           $0.column("title", \.title)
///           $0.column("amount", \.amount)
///         }
///       ])
///     try await store.save { $0[Item.self, "1"].title = "Milk" }
///     // SELECT id, title, amount FROM items  →  1|Milk|0
///
/// The records are the truth, and the store writes the table in the transaction of
/// each change, whether it comes from this app or another device. Read the table
/// with any SQLite library, and create indexes, triggers and tables of your own.
/// Never write it.
///
/// The primary key is `id`, with the key of the record. A column shows what the
/// field of a `TypedRecord` shows. The column of a register is NULL if the register is
/// unset, or refers to a record that does not exist:
///
/// | Field | Column |
/// |---|---|
/// | Text, `URL`, `Decimal` | TEXT |
/// | Integer, Boolean (0 or 1), counter, ledger (its total) | INTEGER |
/// | `Date` | INTEGER, in microseconds since 1970 |
/// | `Double`, `Float` | REAL, or NULL for NaN |
/// | Bytes, `Data`, `UUID`, unsigned integer above `Int64.max` | BLOB |
/// | `Coded` | TEXT, in JSON |
/// | Reference | TEXT, with the key of an existing record |
/// | Set | TEXT, with a JSON array, in which bytes are hexadecimal |
/// | Enumeration and other types | As stored, without a declared type |
///
/// A name of a table or a column has ASCII letters, digits and underscores. It
/// starts with a letter or an underscore. Names that differ only in case are equal
/// for SQLite.
///
/// Opening a store compares each row with its record. If the table differs, is
/// missing or damaged, or has another declaration, the store builds it again. See
/// ``ReplicaStore/rebuiltTables``.
public struct RecordTable: Sendable {
  /// The name of the table.
  public let name: String
  /// The name of the entity.
  package let entityName: String
  let columns: [TableColumn]
  /// The statement that inserts a row, or changes the row if it differs.
  let upsert: String

  /// Declares a table.
  ///
  /// Opening the store throws ``StoreError/invalidTable(_:reason:)`` if a name is
  /// not allowed.
  ///
  /// - Parameters:
  ///   - entity: The entity of the records.
  ///   - name: The name of the table.
  ///   - declare: A closure that declares the columns after `id`.
  public init<Owner: Entity>(
    of entity: Owner.Type, _ name: String,
    _ declare: (inout Columns<Owner>) -> Void
  ) {
    var columns = Columns<Owner>()
    declare(&columns)
    (self.name, entityName) = (name, Owner.entityName)
    self.columns = columns.all
    upsert = RecordTable.upsert(into: name, columns.all)
  }

  /// The columns of a table, which a ``RecordTable`` declares.
  public struct Columns<Owner: Entity> {
    var all: [TableColumn] = []
    private let instance = Owner()

    /// Declares a column with the visible value of a register.
    public mutating func column<V: FieldValue>(
      _ name: String, _ field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
    ) {
      let field = instance[keyPath: field]
      add(name, TableColumn.type(of: V.self)) { record, _ in
        SQLValue(MVRegister.read(field, of: record)?.fieldValue)
      }
    }

    /// Declares a column with the JSON of a register's visible value.
    public mutating func column<Content>(
      _ name: String,
      _ field: KeyPath<Owner, Field<Owner, MVRegister<Coded<Content>>>>
    ) {
      let field = instance[keyPath: field]
      add(name, "TEXT") { record, _ in
        guard
          case .bytes(let json)? = MVRegister.read(field, of: record)?
            .fieldValue
        else { return .null }
        return .text(String(decoding: json, as: UTF8.self))
      }
    }

    /// Declares a column with the value of a counter.
    public mutating func column(
      _ name: String, _ field: KeyPath<Owner, Field<Owner, PNCounter>>
    ) {
      let field = instance[keyPath: field]
      add(name, "INTEGER") { record, _ in
        .integer(PNCounter.read(field, of: record))
      }
    }

    /// Declares a column with the total of a ledger.
    public mutating func column(
      _ name: String, _ field: KeyPath<Owner, Field<Owner, Ledger>>
    ) {
      let field = instance[keyPath: field]
      add(name, "INTEGER") { record, _ in
        .integer(Ledger.read(field, of: record))
      }
    }

    /// Declares a column with the elements of a set, as a JSON array.
    public mutating func column<V: FieldValue>(
      _ name: String, _ field: KeyPath<Owner, Field<Owner, ORSet<V>>>
    ) {
      let field = instance[keyPath: field]
      add(name, "TEXT") { record, _ in
        .json(ORSet.read(field, of: record).map(\.fieldValue))
      }
    }

    /// Declares a column with the number of a record's fields in conflict.
    ///
    /// They are the fields that `conflictedFields(of:)` lists,
    /// whether the table has them or not.
    public mutating func conflictCount(_ name: String) {
      add(name, "INTEGER") { record, schema in
        .integer(Int64(record.conflictedFields(schema).count))
      }
    }

    private mutating func add(
      _ name: String, _ type: String?,
      _ read: @escaping @Sendable (Record, Schema) -> SQLValue
    ) {
      all.append(TableColumn(name: name, type: type, read: read))
    }
  }
}
