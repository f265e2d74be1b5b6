// SPDX-License-Identifier: Apache-2.0

/// A read-only view of a replica.
///
/// A store passes a view to the closures that read. A view cannot change the
/// replica, create a delta or copy the state. Deltas and copies can contain
/// saves that a backup lacks, so the store must first write its restore token.
public struct ReplicaView {
  package let replica: Replica

  package init(_ replica: Replica) { self.replica = replica }

  /// The entities that the app knows.
  public var schema: Schema { replica.schema }

  /// The device ID of the replica's saves.
  public var device: DeviceID { replica.device }

  /// The saves that are fully applied, and the fields ahead of them.
  ///
  /// See ``Replica/version``.
  public var version: ReplicaVersion { replica.version }

  /// The last save of each device that a field has seen beyond ``version``.
  ///
  /// See ``Replica/latestMissingSaves``.
  public var latestMissingSaves: VectorClock { replica.latestMissingSaves }

  /// Reads a record of a declared entity.
  ///
  /// - Returns: The record, or `nil` if it does not exist.
  /// - Precondition: The schema declares the entity.
  public subscript<E: Entity>(
    entity: E.Type, key: String
  ) -> TypedRecord<E>? {
    replica[entity, key]
  }

  /// Reads a record, even if it was deleted.
  ///
  /// - Returns: The record, or `nil` if no known save touched it.
  public func record(_ id: RecordID) -> Record? { replica.record(id) }

  /// Returns whether a record exists.
  public func exists(_ id: RecordID) -> Bool { replica.exists(id) }

  /// Lists the existing records of an entity, sorted by key.
  ///
  /// See ``Replica/records(of:after:limit:)``.
  public func records<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [TypedRecord<E>] {
    replica.records(of: entity, after: key, limit: limit)
  }

  /// Lists the IDs of the existing records of an entity, sorted by key.
  ///
  /// See ``Replica/recordIDs(of:after:limit:)-(E.Type,_,_)``.
  public func recordIDs<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    replica.recordIDs(of: entity, after: key, limit: limit)
  }

  /// Lists the IDs of the existing records of an entity, declared or not.
  ///
  /// See ``Replica/recordIDs(of:after:limit:)-(String,_,_)``.
  public func recordIDs(
    of entity: String, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    replica.recordIDs(of: entity, after: key, limit: limit)
  }

  /// The IDs of all existing records, except the library's own, sorted.
  public var allRecordIDs: [RecordID] { replica.allRecordIDs }

  /// Returns the number of existing records of a declared entity.
  ///
  /// - Precondition: The schema declares the entity.
  /// - Complexity: O(1).
  public func recordCount<E: Entity>(of entity: E.Type) -> Int {
    replica.recordCount(of: entity)
  }

  /// Returns the number of existing records of an entity, declared or not.
  ///
  /// - Complexity: O(1).
  public func recordCount(of entity: String) -> Int {
    replica.recordCount(of: entity)
  }

  /// Lists the registers of an entity's existing records that have conflicts,
  /// sorted.
  ///
  /// See ``Replica/conflictedFields(of:)-(String)``.
  public func conflictedFields(of entity: String) -> [FieldLocation] {
    replica.conflictedFields(of: entity)
  }

  /// Lists the registers of an entity's existing records that have conflicts,
  /// sorted.
  ///
  /// See ``Replica/conflictedFields(of:)-(String)``.
  public func conflictedFields<E: Entity>(of entity: E.Type) -> [FieldLocation]
  {
    replica.conflictedFields(of: entity)
  }
}
