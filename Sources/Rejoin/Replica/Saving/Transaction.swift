// SPDX-License-Identifier: Apache-2.0

/// The edits of one save.
///
///     try phone.save { transaction in
///       transaction[Profile.self, "ada"].name = "Ada"
///       transaction[Profile.self, "ada"].steps.increment(by: 1200)
///     }
///
/// Nothing changes before the closure has ended; then all of it does, under one
/// dot, or none. Where the closure throws, nothing does. Reading within the closure gives what the edits so far lead to.
public final class Transaction {
  let replica: Replica
  private(set) var pending: [RecordID: PendingRecord] = [:]
  private(set) var failure: SaveError?

  init(_ replica: Replica) { self.replica = replica }

  /// Edits a record of a declared entity.
  public subscript<E: Entity>(
    entity: E.Type, key: String
  ) -> RecordEditor<E> {
    RecordEditor(
      id: RecordID(E.entityName, key), target: self,
      fields: replica.schema.fields(of: entity))
  }

  /// Edits a field, and thereby creates the record or keeps it alive.
  ///
  /// - Parameters:
  ///   - edit: What to do, of the kind of the field.
  ///   - key: The field.
  ///   - id: The record.
  ///   - observed: The field as the author was shown it, where that may be older
  ///     than what the replica holds. Only that is superseded.
  /// - Precondition: The schema declares the record's entity, and the edit is one
  ///   for the kind of field.
  public func apply(
    _ edit: FieldEdit, to key: FieldKey, of id: RecordID,
    observed: FieldState? = nil
  ) {
    precondition(
      FieldState(key.kind).accepts(edit),
      "\(edit) is no edit of a field of the kind \(key.kind)")
    touch(id)
    let edit = edit.canonical
    if pending[id]?.edits[key]?.append(edit) == false {
      return fail(.counterOverflow(id, field: key.name))
    }
    if pending[id]?.edits[key] == nil { pending[id]?.edits[key] = edit }
    if let observed { pending[id]?.observed[key] = observed }
  }

  /// Creates a record, or keeps it alive, without editing a field.
  ///
  /// A record that was deleted is created anew, empty; ``restore(_:)`` brings it
  /// back instead.
  ///
  /// - Precondition: The schema declares the record's entity.
  public func touch(_ id: RecordID) {
    if pending[id]?.mark == true { return }
    checkEntity(of: id)
    switch pending[id]?.mark {
    case nil where pending[id] == nil:
      pending[id] = PendingRecord(mark: true, drops: replica.isDead(id))
    default:
      pending[id] = PendingRecord(mark: true, drops: true)
    }
  }

  /// Writes a record that the author was shown in an earlier state.
  ///
  /// Its existence supersedes only the marks that were shown, so that the write is
  /// concurrent with a deletion that was not.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - existence: The marks that were shown.
  ///   - fields: The fields that were shown, to be dropped where the record is
  ///     created again; `nil` where it is not.
  public func upsert(
    _ id: RecordID, observed existence: FieldState,
    creatingAgain fields: [FieldKey: FieldState]?
  ) {
    checkEntity(of: id)
    var record = PendingRecord(mark: true, drops: fields != nil)
    record.existence = existence
    record.observed = fields ?? [:]
    record.dropsOnlyObserved = true
    pending[id] = record
  }

  /// Deletes a record.
  ///
  /// Deleting one that does not exist does nothing.
  ///
  /// - Precondition: The schema declares the record's entity.
  public func delete(_ id: RecordID) {
    checkEntity(of: id)
    for alias in replica.stored.aliases[id] where exists(alias) {
      pending[alias, default: PendingRecord(mark: false)].mark = false
    }
  }

  /// Deletes a record, superseding only the marks that the author was shown.
  public func delete(_ id: RecordID, observed existence: FieldState) {
    checkEntity(of: id)
    guard exists(id) else { return }
    pending[id] = PendingRecord(mark: false, existence: existence)
  }

  /// Brings a deleted record back, with all that it held and under all its names.
  ///
  /// A record that exists is kept alive, and one that has never existed stays
  /// away. Where a purge has dropped what the record held, the save throws
  /// ``SaveError/purged(_:)``.
  ///
  /// - Precondition: The schema declares the record's entity.
  public func restore(_ id: RecordID) {
    checkEntity(of: id)
    if exists(id) { return touch(id) }
    let dead = replica.stored.aliases[id].filter(isDead)
    let whole = dead.filter { pending[$0] != nil || !replica.isPurged($0) }
    if whole.isEmpty, !dead.isEmpty { fail(.purged(id)) }
    for name in whole {
      pending[name, default: PendingRecord(mark: true)].mark = true
    }
  }

  /// Drops what a dead record still holds.
  func purge(_ id: RecordID) {
    pending[id] = PendingRecord(mark: false, drops: true)
  }

  private func checkEntity(of id: RecordID) {
    precondition(
      id.entity.utf8.count <= Limits.nameBytes,
      "the name of an entity takes 255 bytes at most")
    precondition(
      replica.schema.allowsEditing(id.entity),
      "the schema declares no entity \"\(id.entity)\": make the replica with "
        + "`schema: [\(id.entity).self]`, or with `Schema([\"\(id.entity)\": "
        + ".init(fields: …)])` where entities are known at run time only")
  }

  private func exists(_ id: RecordID) -> Bool {
    pending[id]?.mark ?? replica.existsAlone(id)
  }

  private func isDead(_ id: RecordID) -> Bool {
    pending[id]?.mark.map { !$0 } ?? replica.isDead(id)
  }

  /// Remembers why the save cannot be done; the first reason counts.
  package func fail(_ error: SaveError) {
    failure = failure ?? error
  }

  /// The edit of a field so far.
  func edit(of key: FieldKey, in id: RecordID) -> FieldEdit? {
    pending[id]?.mark == false ? nil : pending[id]?.edits[key]
  }

  /// Whether the record has been deleted or created again in this save, so that
  /// what the replica holds of it is not shown.
  func hides(_ id: RecordID) -> Bool {
    pending[id].map { $0.drops || $0.mark == false } ?? false
  }
}

/// What a save does to one record.
struct PendingRecord {
  /// Whether the record is alive or dead afterwards; `nil` leaves it as it is.
  var mark: Bool?
  /// Whether what was seen is dropped first.
  var drops = false
  /// The marks that were shown; `nil` means all that are here.
  var existence: FieldState?
  /// The fields that were shown; one that is missing is as it is here.
  var observed: [FieldKey: FieldState] = [:]
  /// Whether a field missing from `observed` was not shown, and stays.
  var dropsOnlyObserved = false
  var edits: [FieldKey: FieldEdit] = [:]
}
