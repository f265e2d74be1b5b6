// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The changed records, each in its state before and after the change.
///
///     for change in changes.changes(to: Note.self) {
///       print(change.key, change.old?.title, change.new?.title)
///     }
///
/// A store passes the changes to its observers (see ``ReplicaStore/changes``)
/// and to the closure that writes tables of the app. They include the records
/// whose references start or stop to be shown, because the records that they refer
/// to appear or disappear.
public struct RecordChanges: Sendable {
  /// A record before and after a change.
  public struct Change: Sendable {
    /// The ID of the record.
    public let id: RecordID
    /// The record before the change, or `nil` if no earlier save touched it.
    public let old: Record?
    /// The record after the change.
    public internal(set) var new: Record?
  }

  /// A typed record before and after a change.
  public struct TypedChange<Owner: Entity>: Sendable {
    /// The key of the record.
    public let key: String
    /// The record before the change, or `nil` if it did not exist.
    public let old: TypedRecord<Owner>?
    /// The record after the change, or `nil` if it no longer exists.
    public let new: TypedRecord<Owner>?
  }

  /// Whether these are all existing records, as if each were new.
  ///
  /// The closure that writes tables of the app then creates or clears its tables
  /// first. See ``ReplicaStore/rebuildTables()``.
  public private(set) var isRebuild = false

  private var changes: [RecordID: Change]
  private let schema: Schema

  package init(
    _ differences: [RecordID: Replica.Difference], _ schema: Schema
  ) {
    changes = [:]
    for (id, difference) in differences {
      changes[id] = Change(id: id, old: difference.old, new: difference.new)
    }
    self.schema = schema
  }

  /// Creates the changes of a rebuild.
  init(rebuildingFrom replica: Replica) {
    (changes, schema, isRebuild) = ([:], replica.schema, true)
    for id in replica.allRecordIDs {
      changes[id] = Change(id: id, old: nil, new: replica.record(id))
    }
  }

  /// All changes, sorted by ID.
  public var all: [Change] { changes.values.sorted { $0.id < $1.id } }

  /// The change of one record, or `nil` if the record did not change.
  public subscript(id: RecordID) -> Change? { changes[id] }

  /// Returns the changes of an entity's records, sorted by key.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of changed records.
  public func changes<E: Entity>(to entity: E.Type) -> [TypedChange<E>] {
    let fields = schema.fields(of: entity)
    return changes(to: fields.entityName).map { change in
      TypedChange(
        key: change.id.key, old: change.old?.typed(fields),
        new: change.new?.typed(fields))
    }
  }

  /// Returns the changes of an entity's records, sorted by key.
  func changes(to entity: String) -> [Change] {
    let name = SchemaName(entity)
    return all.filter { SchemaName($0.id.entity) == name }
  }

  /// Returns a record after the change, or `nil` at the outermost level if it
  /// did not change.
  func new<E: Entity>(_ id: RecordID, _ entity: E.Type) -> TypedRecord<E>?? {
    changes[id].map { $0.new?.typed(schema.fields(of: entity)) }
  }

  /// Whether no record changed.
  public var isEmpty: Bool { changes.isEmpty }

  var ids: some Sequence<RecordID> { changes.keys }

  /// Returns the change of one record, without the others.
  func only(_ id: RecordID) -> RecordChanges {
    var only = self
    only.changes = changes[id].map { [id: $0] } ?? [:]
    return only
  }

  /// Adds later changes, and keeps the earliest former state of each record.
  mutating func add(_ later: RecordChanges) {
    for (id, change) in later.changes {
      changes[id, default: change].new = change.new
    }
  }
}
