// SPDX-License-Identifier: Apache-2.0

#if canImport(CloudKit)
  import CloudKit
  import Foundation

  #if CLOUDKIT_STAND_IN
    import RejoinSync
  #endif

  /// A storage that keeps objects in a zone of iCloud.
  ///
  ///     let zone = CKRecordZone.ID(zoneName: "list-17")
  ///     let storage = CloudKitStorage(zone, of: CKContainer.default())
  ///     let engine = SyncEngine(store, routes: [
  ///       SyncRoute("icloud", scope: "list-17", objects: storage)
  ///     ])
  ///
  /// Give each scope a zone of its own, which the first pass of a device creates. The
  /// devices of one user meet in it, or those of several users if the zone is shared. An
  /// object is a record of the type `RejoinObject` with its size in the field `size`, and
  /// its bytes in at most eight assets, `bytes0` to `bytes7`. The article
  /// <doc:SyncingThroughCloudKit> has the schema to import.
  ///
  /// Objects never change, so an app handles no conflicts, change tags or pending changes.
  /// A pass that finds nothing new asks for the account and for the changes of the zone.
  ///
  /// The errors of CloudKit become these refusals:
  ///
  /// | Refusal | Reason |
  /// |---|---|
  /// | ``SyncRefusal/gone`` | The zone was deleted, also by the user in Settings, or its owner stopped sharing it. ``SyncEngine/resume(_:)`` creates it again if it is private |
  /// | ``SyncRefusal/wrongScope`` | The device has no iCloud account, or another one than at the first pass |
  /// | ``SyncRefusal/denied`` | The user may only read the zone |
  /// | ``SyncRefusal/full`` | The owner's iCloud storage is full |
  /// | ``SyncRefusal/tooLarge`` | The server takes no record of this size |
  /// | ``SyncRefusal/busy(seconds:)`` | The network or the server asks to wait |
  ///
  /// After any other error of CloudKit, or an ``ObjectStorageError``, the engine tries
  /// again.
  public struct CloudKitStorage: ObjectStorage {
    private let zone: Zone

    /// Creates a storage, which contacts the server with its first call.
    ///
    /// - Parameters:
    ///   - zone: The zone, which need not exist if it is private.
    ///   - container: The app's container.
    ///   - isShared: Whether another user owns the zone and shares it with this one. The
    ///     storage then never creates the zone.
    public init(
      _ zone: CKRecordZone.ID, of container: CKContainer, isShared: Bool = false
    ) {
      self.zone = Zone(zone, container, isShared: isShared)
    }

    /// `true`, because the server has an object when the call returns.
    public var confirmsWrites: Bool { true }

    public func list() async throws -> [(name: String, byteCount: Int)] {
      try await zone.list()
    }

    public func get(_ name: String) async throws -> [UInt8]? {
      try await zone.get(name)
    }

    public func put(_ name: String, _ bytes: [UInt8]) async throws {
      try await zone.put(name, bytes)
    }

    public func delete(_ names: [String]) async throws {
      try await zone.delete(names)
    }

    public func create() async throws { try await zone.create() }

    public func identity() async throws -> String? {
      try await zone.identity()
    }
  }

  /// The calls to the server, and the names of the objects.
  private actor Zone {
    private static let recordType = "RejoinObject"
    private static let sizeKey = "size"
    /// The keys of the assets, which production knows, and no others.
    private static let assetKeys = (0..<8).map { "bytes\($0)" }
    /// The maximum size of an asset, below the server's limit of 50 MB.
    private static let assetSize = 32 << 20
    /// The maximum number of records in a call, below the server's limit of 400.
    private static let groupSize = 200

    /// The number of lists after which the token is dropped.
    ///
    /// Apple's pages do not state that a zone that was created again refuses the token of
    /// the former one. The former names would cover saves that are not there.
    private static let listsPerToken = 100

    /// The objects of the zone up to a token.
    private struct Listing {
      var sizes: [String: Int] = [:]
      /// The name that was listed first, if its object is still there.
      var oldest: String?
      /// The names that were deleted, which are not used again.
      var deleted: Set<String> = []
      var token: CKServerChangeToken?
      var listCount = 0
    }

    private let id: CKRecordZone.ID
    private let container: CKContainer
    private let isShared: Bool
    private var listing = Listing()
    /// The user of the listing, or `nil`.
    private var user: String?

    init(_ id: CKRecordZone.ID, _ container: CKContainer, isShared: Bool) {
      (self.id, self.container, self.isShared) = (id, container, isShared)
    }

    private var database: CKDatabase {
      isShared ? container.sharedCloudDatabase : container.privateCloudDatabase
    }

    private func recordID(_ name: String) -> CKRecord.ID {
      CKRecord.ID(recordName: name, zoneID: id)
    }

    func identity() async throws -> String? {
      try Task.checkCancellation()
      let name: String
      do { name = try await container.userRecordID().recordName } catch {
        throw refusal(for: error)
      }
      if name != user { (user, listing) = (name, Listing()) }
      return name
    }

    func create() async throws {
      if isShared { throw SyncRefusal.gone }
      do {
        try Task.checkCancellation()
        _ = try await database.save(CKRecordZone(zoneID: id))
      } catch { throw refusal(for: error) }
    }
  }

  // Listing.
  extension Zone {
    func list() async throws -> [(name: String, byteCount: Int)] {
      if listing.listCount >= Self.listsPerToken { listing = Listing() }
      do {
        do { while try await addPage() {} } catch let error as CKError
          where error.code == .changeTokenExpired
        {
          listing = Listing()
          while try await addPage() {}
        }
      } catch { throw refusal(for: error) }
      listing.listCount += 1
      return listing.sizes.map { ($0.key, $0.value) }
    }

    /// Adds the next changes, and returns whether more follow.
    private func addPage() async throws -> Bool {
      try Task.checkCancellation()
      var next = listing
      // No key of an asset, so the server sends none.
      let page = try await database.recordZoneChanges(
        inZoneWith: id, since: next.token, desiredKeys: [Self.sizeKey])
      for (record, result) in page.modificationResultsByID {
        let name = record.recordName
        if next.deleted.contains(name) { continue }
        switch result {
        case .success(let change)
        where change.record.recordType == Self.recordType:
          let size = change.record[Self.sizeKey] as? Int
          next.sizes[name] = max(size ?? 0, 0)
        case .success: break
        case .failure:
          // A read shows the reason. No later page lists the record again.
          next.sizes[name] = next.sizes[name] ?? 1
        }
      }
      for deletion in page.deletions {
        let name = deletion.recordID.recordName
        next.sizes[name] = nil
        next.deleted.insert(name)
        if next.oldest == name { next.oldest = nil }
      }
      next.oldest = next.oldest ?? next.sizes.keys.first
      next.token = page.changeToken
      listing = next
      return page.moreComing
    }
  }

  // Reading.
  extension Zone {
    func get(_ name: String) async throws -> [UInt8]? {
      try await record(name).map(Self.bytes)
    }

    /// Returns a record, or `nil` if it is not there.
    private func record(
      _ name: String, _ keys: [CKRecord.FieldKey]? = nil
    ) async throws -> CKRecord? {
      let id = recordID(name)
      do {
        try Task.checkCancellation()
        let results = try await database.records(for: [id], desiredKeys: keys)
        guard let record = try results[id]?.get() else {
          throw ObjectStorageError.failed("iCloud did not answer for \(name)")
        }
        return record
      } catch {
        guard code(of: error, item: id) == .unknownItem else {
          throw refusal(for: error, item: id)
        }
        // The list can be that of a zone that was created again.
        listing = Listing()
        return nil
      }
    }

    /// Reads the assets of a record, before the system deletes their files.
    ///
    /// - Returns: The bytes, or an empty array if the record is not complete.
    private static func bytes(of record: CKRecord) throws -> [UInt8] {
      guard let size = record[sizeKey] as? Int, size > 0,
        size <= assetKeys.count * assetSize
      else { return [] }
      var bytes: [UInt8] = []
      for key in assetKeys where bytes.count < size {
        guard let asset = record[key] as? CKAsset else { break }
        let part = asset.fileURL.flatMap { try? Data(contentsOf: $0) }
        guard let part else {
          throw ObjectStorageError.failed(
            "The system deleted the file of the object "
              + "\(record.recordID.recordName) before it was read")
        }
        bytes += part
      }
      return bytes.count == size ? bytes : []
    }
  }

  // Writing.
  extension Zone {
    func put(_ name: String, _ bytes: [UInt8]) async throws {
      if bytes.count > Self.assetKeys.count * Self.assetSize {
        throw SyncRefusal.tooLarge
      }
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "rejoin-\(UUID())")
      defer { try? FileManager.default.removeItem(at: folder) }
      let files: [URL]
      do { files = try Self.write(bytes, to: folder) } catch {
        throw ObjectStorageError.failed(
          "The object could not be written to \(folder.path) (\(error))")
      }
      let id = recordID(name)
      let record = CKRecord(recordType: Self.recordType, recordID: id)
      record[Self.sizeKey] = bytes.count
      for (key, file) in zip(Self.assetKeys, files) {
        record[key] = CKAsset(fileURL: file)
      }
      do {
        try Task.checkCancellation()
        let results = try await database.modifyRecords(
          saving: [record], deleting: [], atomically: false)
        guard let result = results.saveResults[id] else {
          throw ObjectStorageError.failed("iCloud did not answer for \(name)")
        }
        _ = try result.get()
      } catch {
        switch code(of: error, item: id) {
        // An earlier attempt stored the record, and its answer was lost.
        case .serverRecordChanged: return
        case .limitExceeded: throw SyncRefusal.tooLarge
        // Apple's pages do not state how many assets a record can have.
        case .invalidArguments where files.count > 1,
          .serverRejectedRequest where files.count > 1:
          throw SyncRefusal.tooLarge
        default: throw refusal(for: error, item: id)
        }
      }
    }

    /// Writes bytes to a file for each asset.
    private static func write(_ bytes: [UInt8], to folder: URL) throws -> [URL]
    {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true)
      return try stride(from: 0, to: bytes.count, by: assetSize).map { start in
        let file = folder.appending(path: "\(start)")
        try Data(bytes[start...].prefix(assetSize)).write(to: file)
        return file
      }
    }

    /// Throws an error if the list can be that of a former zone.
    ///
    /// An object of the former zone would seem to contain those to delete.
    private func checkList() async throws {
      guard let name = listing.oldest else { return }
      if try await record(name, []) == nil {
        throw SyncRefusal.busy(seconds: 0)
      }
    }

    func delete(_ names: [String]) async throws {
      try await checkList()
      var groups: [ArraySlice<String>] = []
      for start in stride(from: 0, to: names.count, by: Self.groupSize) {
        groups.append(names[start...].prefix(Self.groupSize))
      }
      var failure: (any Error)?
      while let group = groups.popLast() {
        do {
          try Task.checkCancellation()
          let results = try await database.modifyRecords(
            saving: [], deleting: group.map(recordID), atomically: false)
          for (id, result) in results.deleteResults {
            do { try result.get() } catch {
              failure = failure ?? self.failure(of: error, deleting: id)
            }
          }
        } catch let error as CKError
          where error.code == .limitExceeded || error.code == .partialFailure
        {
          guard group.count == 1, let name = group.first else {
            let middle = group.index(
              group.startIndex, offsetBy: group.count / 2)
            groups += [group[..<middle], group[middle...]]
            continue
          }
          failure = failure ?? self.failure(of: error, deleting: recordID(name))
        } catch { throw refusal(for: error) }
      }
      if let failure { throw failure }
    }

    /// Returns the reason why a record was not deleted, or `nil` if it is not there.
    private func failure(
      of error: any Error, deleting id: CKRecord.ID
    ) -> (any Error)? {
      switch code(of: error, item: id) {
      case .unknownItem:
        listing = Listing()
        return nil
      case .limitExceeded: return SyncRefusal.tooLarge
      default: return refusal(for: error, item: id)
      }
    }
  }

  // Errors.
  extension Zone {
    /// Returns the error of an item, which can be a part of the error of a call.
    private func itemError(
      _ error: any Error, _ item: CKRecord.ID?
    ) -> any Error {
      guard let error = error as? CKError, error.code == .partialFailure,
        let item
      else { return error }
      return error.partialErrorsByItemID?[item] ?? error
    }

    private func code(of error: any Error, item: CKRecord.ID) -> CKError.Code? {
      (itemError(error, item) as? CKError)?.code
    }

    /// Returns the refusal for an error of CloudKit, or the error itself.
    private func refusal(
      for error: any Error, item: CKRecord.ID? = nil
    ) -> any Error {
      let error = itemError(error, item)
      guard let error = error as? CKError else { return error }
      switch error.code {
      case .zoneNotFound, .userDeletedZone:
        listing = Listing()
        return SyncRefusal.gone
      case .notAuthenticated: return SyncRefusal.wrongScope
      case .permissionFailure: return SyncRefusal.denied
      case .quotaExceeded: return SyncRefusal.full
      case .serviceUnavailable, .requestRateLimited, .zoneBusy, .networkFailure,
        .networkUnavailable:
        if Task.isCancelled { return CancellationError() }
        // The wait of a peer is at most a day.
        let asked = error.retryAfterSeconds ?? 0
        let seconds = asked > 0 ? min(asked, 86_400) : 0
        return SyncRefusal.busy(seconds: Int(seconds.rounded(.up)))
      default: return error
      }
    }
  }
#endif
