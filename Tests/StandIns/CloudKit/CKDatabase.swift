// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An app's databases, as one device sees them.
public final class CKContainer: NSObject, Sendable {
  let device: StandInServer.Device
  public let privateCloudDatabase: CKDatabase
  public let sharedCloudDatabase: CKDatabase

  init(_ device: StandInServer.Device) {
    self.device = device
    privateCloudDatabase = CKDatabase(device, .private)
    sharedCloudDatabase = CKDatabase(device, .shared)
  }

  /// Returns the name of the user who is signed in.
  public func userRecordID() async throws -> CKRecord.ID {
    try await device.server.userRecordID(of: device)
  }

  /// Joins a share.
  @discardableResult
  public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
    try await device.server.accept(metadata, on: device)
  }
}

/// A database of a container.
public final class CKDatabase: NSObject, Sendable {
  public enum Scope: Int, Sendable {
    case `public` = 1
    case `private`, shared
  }

  /// The changes of a zone.
  public enum RecordZoneChange {
    /// A record that was added or changed.
    public struct Modification {
      public let record: CKRecord
    }

    /// A record that was deleted.
    public struct Deletion {
      public let recordID: CKRecord.ID
      public let recordType: CKRecord.RecordType
    }
  }

  /// The changes of a database.
  public enum DatabaseChange {
    /// A zone that was created or changed.
    public struct Modification: Sendable {
      public let zoneID: CKRecordZone.ID
    }

    /// A zone that was deleted.
    public struct Deletion: Sendable {
      public enum Reason: Hashable, Sendable {
        case deleted, purged, encryptedDataReset
      }

      public let zoneID: CKRecordZone.ID
      public let reason: Reason
    }
  }

  let device: StandInServer.Device
  public let databaseScope: Scope

  init(_ device: StandInServer.Device, _ scope: Scope) {
    (self.device, databaseScope) = (device, scope)
  }

  private var server: StandInServer { device.server }

  /// Returns what changed in a zone since a token.
  public func recordZoneChanges(
    inZoneWith zoneID: CKRecordZone.ID,
    since changeToken: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
  ) async throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
      RecordZoneChange.Modification, any Error
    >],
    deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    try await server.call(.changes, on: device) { server in
      try server.changes(
        in: zoneID, databaseScope, self.device, since: changeToken,
        desiredKeys, resultsLimit)
    }
  }

  /// Returns the zones that changed since a token.
  public func databaseChanges(
    since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
  ) async throws -> (
    modifications: [DatabaseChange.Modification],
    deletions: [DatabaseChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    try await server.call(.databaseChanges, on: device) { server in
      try server.databaseChanges(databaseScope, self.device, since: changeToken)
    }
  }

  /// Returns records.
  public func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
  ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
    try await server.call(.records, on: device) { server in
      try server.records(ids, databaseScope, self.device, desiredKeys)
    }
  }

  /// Saves and deletes records.
  @discardableResult
  public func modifyRecords(
    saving recordsToSave: [CKRecord],
    deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy =
      .ifServerRecordUnchanged,
    atomically: Bool = true
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  ) {
    let kind: StandInServer.Call = recordsToSave.isEmpty ? .delete : .save
    return try await server.call(kind, on: device) { server in
      try server.modify(
        recordsToSave, recordIDsToDelete, databaseScope, self.device,
        savePolicy,
        atomically: atomically)
    }
  }

  /// Saves a zone, which creates it if it does not exist.
  @discardableResult
  public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
    try await server.call(.saveZone, on: device) { server in
      try server.save(zone, databaseScope, self.device)
      return zone
    }
  }

  /// Saves a record or a share.
  @discardableResult
  public func save(_ record: CKRecord) async throws -> CKRecord {
    let results = try await modifyRecords(saving: [record], deleting: [])
    return try results.saveResults[record.recordID]?.get() ?? record
  }

  /// Saves a subscription.
  @discardableResult
  public func save(_ subscription: CKSubscription) async throws
    -> CKSubscription
  {
    try await server.call(.subscribe, on: device) { server in
      try server.save(subscription, databaseScope, self.device)
      return subscription
    }
  }
}

/// The operation that saves records.
public final class CKModifyRecordsOperation: NSObject {
  public enum RecordSavePolicy: Int, Sendable {
    case ifServerRecordUnchanged
    case changedKeys
    case allKeys
  }
}
