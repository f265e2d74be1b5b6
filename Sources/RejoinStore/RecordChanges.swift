// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Records that have changed, each before and after.
///
///     for change in changes.changes(to: Note.self) {
///       print(change.key, change.old?.title, change.new?.title)
///     }
///
/// A store passes the changes to its observers, see ``ReplicaStore/changes``, and to the
/// closures that write tables of the app.
public struct RecordChanges: Sendable {
  /// A record before and after.
  public struct Change: Sendable {
    /// The record's ID.
    public let id: RecordID
    /// The record before; `nil` if no save had touched it.
    ///
    /// References to records that do not exist now read as unset.
    public let old: Record?
    /// The record after.
    public internal(set) var new: Record?
  }

  /// A record before and after, read by the fields that its entity declares.
  public struct TypedChange<Owner: Entity>: Sendable {
    /// The record's key.
    public let key: String
    /// The record before; `nil` if it did not exist.
    public let old: TypedRecord<Owner>?
    /// The record after; `nil` if it does not exist.
    public let new: TypedRecord<Owner>?
  }

  private var changes: [RecordID: Change]
  private let schema: Schema

  init(_ differences: [RecordID: Replica.Difference], _ schema: Schema) {
    changes = [:]
    for (id, difference) in differences {
      changes[id] = Change(id: id, old: difference.old, new: difference.new)
    }
    self.schema = schema
  }

  /// Every change, sorted by ID.
  public var all: [Change] { changes.values.sorted { $0.id < $1.id } }

  /// The change of one record, if there is any.
  public subscript(id: RecordID) -> Change? { changes[id] }

  /// The changes of records of an entity, sorted by key.
  ///
  /// - Complexity: O(*n* log *n*) for *n* changed records.
  public func changes<E: Entity>(to entity: E.Type) -> [TypedChange<E>] {
    let fields = schema.fields(of: entity)
    let entity = E.entityName
    // Names are compared as bytes.
    return all.filter { $0.id == RecordID(entity, $0.id.key) }.map { change in
      TypedChange(
        key: change.id.key, old: change.old?.typed(fields),
        new: change.new?.typed(fields))
    }
  }

  /// A record after the change; nothing if it has not changed.
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

  /// Adds later changes: of each record, what was before all of them stays.
  mutating func add(_ later: RecordChanges) {
    for (id, change) in later.changes {
      changes[id, default: change].new = change.new
    }
  }
}
