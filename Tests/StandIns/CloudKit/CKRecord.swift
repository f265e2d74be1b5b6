// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The name that the owner of a zone has for the owner.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The name of the record that shares a zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

/// A value of a record's field.
public protocol CKRecordValueProtocol {}

extension Int: CKRecordValueProtocol {}
extension String: CKRecordValueProtocol {}
extension CKAsset: CKRecordValueProtocol {}

/// A record, which is the client's copy.
public class CKRecord: NSObject {
  public typealias FieldKey = String
  public typealias RecordType = String

  /// The name of a record in a zone.
  public struct ID: Hashable, Sendable {
    public let recordName: String
    public let zoneID: CKRecordZone.ID

    public init(recordName: String, zoneID: CKRecordZone.ID) {
      (self.recordName, self.zoneID) = (recordName, zoneID)
    }
  }

  public let recordType: RecordType
  public let recordID: ID
  /// The server's mark of the copy, or `nil` for a new record.
  public internal(set) var recordChangeTag: String?
  var values: [FieldKey: any CKRecordValueProtocol] = [:]

  public init(recordType: RecordType, recordID: ID) {
    (self.recordType, self.recordID) = (recordType, recordID)
  }

  public subscript(key: FieldKey) -> (any CKRecordValueProtocol)? {
    get { values[key] }
    set { values[key] = newValue }
  }
}

/// A file beside a record.
public final class CKAsset: NSObject, Sendable {
  public let fileURL: URL?

  public init(fileURL: URL) { self.fileURL = fileURL }
}

/// A zone of a database.
public final class CKRecordZone: NSObject, Sendable {
  /// The name of a zone, and that of its owner.
  public struct ID: Hashable, Sendable {
    public let zoneName: String
    public let ownerName: String

    public init(
      zoneName: String, ownerName: String = CKCurrentUserDefaultName
    ) {
      (self.zoneName, self.ownerName) = (zoneName, ownerName)
    }
  }

  public let zoneID: ID

  public init(zoneID: ID) { self.zoneID = zoneID }
}

/// A position in the changes of a zone.
public final class CKServerChangeToken: NSObject, Sendable {
  /// The number of times that the zone was created before the token.
  let creation: Int
  let position: Int
  let generation: Int
  /// The last position of the deletions that were listed early.
  let listedDeletions: Int

  init(creation: Int, position: Int, generation: Int, listedDeletions: Int) {
    (self.creation, self.position) = (creation, position)
    (self.generation, self.listedDeletions) = (generation, listedDeletions)
  }
}

/// A record that shares a zone.
public final class CKShare: CKRecord {
  /// The right of a participant.
  public enum ParticipantPermission: Int, Sendable {
    case none = 1
    case readOnly, readWrite
  }

  /// The invitation that the system gives to an app.
  public final class Metadata: NSObject, Sendable {
    let zoneID: CKRecordZone.ID
    let permission: ParticipantPermission

    init(_ zoneID: CKRecordZone.ID, _ permission: ParticipantPermission) {
      (self.zoneID, self.permission) = (zoneID, permission)
    }
  }

  public init(recordZoneID: CKRecordZone.ID) {
    super.init(
      recordType: "cloudkit.share",
      recordID: CKRecord.ID(
        recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID))
  }
}

/// A demand for push messages.
public class CKSubscription: NSObject {
  public typealias ID = String

  /// The content of a push message.
  public final class NotificationInfo: NSObject {
    public var shouldSendContentAvailable = false
  }

  public let subscriptionID: ID
  public var notificationInfo: NotificationInfo?

  init(_ subscriptionID: ID) { self.subscriptionID = subscriptionID }
}

/// A demand for messages about one zone of the private database.
public final class CKRecordZoneSubscription: CKSubscription {
  public let zoneID: CKRecordZone.ID

  public init(zoneID: CKRecordZone.ID, subscriptionID: ID) {
    self.zoneID = zoneID
    super.init(subscriptionID)
  }
}

/// A demand for messages about a database.
public final class CKDatabaseSubscription: CKSubscription {
  public init(subscriptionID: ID) { super.init(subscriptionID) }
}
