// SPDX-License-Identifier: Apache-2.0

/// A type that reads the records of a replica.
///
/// A function that fills a list can read a ``Replica``, the ``ReplicaView`` of a
/// store, and the snapshot of a reader:
///
///     func names(in replica: some ReadableReplica) -> [String] {
///       replica.records(of: Profile.self).compactMap(\.name)
///     }
public protocol ReadableReplica {
  /// The entities that the app knows.
  var schema: Schema { get }

  /// The device ID of the replica's saves.
  var device: DeviceID { get }

  /// The saves that are fully applied, and the fields ahead of them. The snapshot
  /// of a reader has no fields ahead.
  var version: ReplicaVersion { get }

  /// Reads a record, even if it was deleted.
  ///
  /// - Returns: The record, or `nil` if no known save touched it.
  func record(_ id: RecordID) -> Record?

  /// Returns whether a record exists.
  func exists(_ id: RecordID) -> Bool

  /// Lists the IDs of the existing records of an entity, declared or not, sorted
  /// by key.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - key: The key after which the list starts, or `nil` for the first
  ///     record.
  ///   - limit: The maximum number of IDs to return, or `nil` for no limit.
  /// - Precondition: `limit` is not negative.
  func recordIDs(of entity: String, after key: String?, limit: Int?)
    -> [RecordID]

  /// Lists the existing records of a declared entity, sorted by key.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - key: The key after which the list starts, or `nil` for the first
  ///     record.
  ///   - limit: The maximum number of records to return, or `nil` for no limit.
  /// - Precondition: The schema declares the entity, and `limit` is not
  ///   negative.
  func records<E: Entity>(of entity: E.Type, after key: String?, limit: Int?)
    -> [TypedRecord<E>]

  /// Returns the number of existing records of an entity, declared or not.
  func recordCount(of entity: String) -> Int

  /// Returns the registers of an entity's existing records that have conflicts,
  /// sorted.
  func conflictedFields(of entity: String) -> [FieldLocation]

  /// The IDs of all existing records, except the library's own, sorted.
  var allRecordIDs: [RecordID] { get }
}

// Reading records of declared entities.
extension ReadableReplica {
  /// Reads a record of a declared entity.
  ///
  ///     replica[Profile.self, "ada"]?.steps  // 1200
  ///
  /// - Returns: The record, or `nil` if it does not exist.
  /// - Precondition: The schema declares the entity.
  /// - Complexity: O(*n*), where *n* is the number of writes and elements in
  ///   the record. They are searched for references to records that do not
  ///   exist.
  @inlinable
  public subscript<E: Entity>(
    entity: E.Type, key: String
  ) -> TypedRecord<E>? {
    let fields = schema.fields(of: entity)
    return record(RecordID(fields.entityName, key))?.typed(fields)
  }

  /// Lists all existing records of a declared entity, sorted by key.
  ///
  /// - Precondition: The schema declares the entity.
  public func records<E: Entity>(of entity: E.Type) -> [TypedRecord<E>] {
    records(of: entity, after: nil, limit: nil)
  }

  /// Lists the first existing records of a declared entity, sorted by key.
  ///
  /// - Precondition: The schema declares the entity, and `limit` is not
  ///   negative.
  public func records<E: Entity>(
    of entity: E.Type, limit: Int?
  ) -> [TypedRecord<E>] {
    records(of: entity, after: nil, limit: limit)
  }

  /// Lists the existing records of a declared entity after a key, sorted by
  /// key.
  ///
  /// - Precondition: The schema declares the entity.
  public func records<E: Entity>(
    of entity: E.Type, after key: String?
  ) -> [TypedRecord<E>] {
    records(of: entity, after: key, limit: nil)
  }

  /// Lists the IDs of the existing records of a declared entity, sorted.
  ///
  ///     let page = replica.recordIDs(of: Profile.self, limit: 50)
  ///
  /// - Precondition: The schema declares the entity.
  public func recordIDs<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    recordIDs(
      of: schema.fields(of: entity).entityName, after: key, limit: limit)
  }

  /// Lists the IDs of all existing records of an entity, declared or not, sorted
  /// by key.
  public func recordIDs(of entity: String) -> [RecordID] {
    recordIDs(of: entity, after: nil, limit: nil)
  }

  /// Lists the IDs of the first existing records of an entity, declared or not,
  /// sorted by key.
  ///
  /// - Precondition: `limit` is not negative.
  public func recordIDs(of entity: String, limit: Int?) -> [RecordID] {
    recordIDs(of: entity, after: nil, limit: limit)
  }

  /// Lists the IDs of the existing records of an entity after a key, declared or
  /// not, sorted by key.
  public func recordIDs(of entity: String, after key: String?) -> [RecordID] {
    recordIDs(of: entity, after: key, limit: nil)
  }

  /// Returns the number of existing records of a declared entity.
  ///
  /// - Precondition: The schema declares the entity.
  public func recordCount<E: Entity>(of entity: E.Type) -> Int {
    recordCount(of: schema.fields(of: entity).entityName)
  }

  /// Returns the registers of an entity's existing records that have conflicts,
  /// sorted.
  ///
  ///     replica.conflictedFields(of: Profile.self).map(\.record.key)  // ["ada"]
  ///
  /// The list omits fields that the schema declares as `lww`. It includes
  /// conflicts with values of another version, which a typed record does not
  /// show because they have another type.
  ///
  /// - Precondition: The schema declares the entity.
  public func conflictedFields<E: Entity>(of entity: E.Type) -> [FieldLocation]
  {
    conflictedFields(of: schema.fields(of: entity).entityName)
  }
}

/// A read-only view of a replica.
///
/// A store passes a view to the closures that read. A view cannot change the
/// replica, create a delta or copy the state. Deltas and copies can contain
/// saves that a backup lacks, so the store must first write its restore token.
public struct ReplicaView: ReadableReplica {
  package let replica: Replica

  package init(_ replica: Replica) { self.replica = replica }

  public var schema: Schema { replica.schema }

  public var device: DeviceID { replica.device }

  public var version: ReplicaVersion { replica.version }

  /// The last save of each device that a field has seen beyond ``version``.
  ///
  /// See ``Replica/latestMissingSaves``.
  public var latestMissingSaves: VectorClock { replica.latestMissingSaves }

  public func record(_ id: RecordID) -> Record? { replica.record(id) }

  public func exists(_ id: RecordID) -> Bool { replica.exists(id) }

  public func recordIDs(
    of entity: String, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    replica.recordIDs(of: entity, after: key, limit: limit)
  }

  public func records<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [TypedRecord<E>] {
    replica.records(of: entity, after: key, limit: limit)
  }

  public func recordCount(of entity: String) -> Int {
    replica.recordCount(of: entity)
  }

  public func conflictedFields(of entity: String) -> [FieldLocation] {
    replica.conflictedFields(of: entity)
  }

  public var allRecordIDs: [RecordID] { replica.allRecordIDs }
}
