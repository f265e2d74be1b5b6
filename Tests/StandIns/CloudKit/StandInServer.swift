// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A server of CloudKit in memory, and the devices that use it.
///
/// It behaves as Apple's pages state. ``OpenQuestions`` has the rest.
public final class StandInServer: Sendable {
  /// A kind of call.
  public enum Call: Hashable, Sendable, CaseIterable {
    case account, changes, databaseChanges, records, save, delete, saveZone
    case subscribe, accept
  }

  /// The answers to questions that Apple's pages leave open.
  public struct OpenQuestions: Sendable {
    /// Whether a zone that was created again takes a token of the former one.
    public var acceptsOldTokens = false
    /// Whether a call without a token also lists deletions.
    public var listsOldDeletions = false
    /// Whether a page has an error for each record that is deleted in it.
    public var repeatsDeletedRecords = false
    /// Whether a page lists its deletions before all modifications.
    public var listsDeletionsFirst = false
    /// Whether the deletion of a missing record succeeds.
    public var deletesMissingRecords = false
    /// Whether an error of a zone is an error of each item.
    public var reportsZoneByItem = false
    /// Whether a call with one item throws the error of the item itself.
    public var throwsErrorOfItem = false
    /// Whether calls ignore that their task is canceled.
    public var ignoresCancellation = false
    /// The number of assets that a record can have, and the error beyond it.
    public var assetsPerRecord = (
      count: Int.max, code: CKError.Code.limitExceeded
    )

    public init() {}
  }

  /// The shares of calls that fail, and of pages, files and records.
  public struct Faults: Sendable {
    /// How many of 100 calls fail before their effect, and as many after it.
    public var rate = 0
    /// How many of 100 pages are short.
    public var shortPages = 0
    /// How many of 100 staged files disappear.
    public var lostFiles = 0
    /// How many of 100 records of a page have an error.
    public var failedRecords = 0
    /// How many of 100 tokens expire.
    public var expiredTokens = 0
    /// The seed of the random numbers.
    public var seed: UInt64 = 0

    public init() {}

    fileprivate mutating func draw(below bound: Int) -> Int {
      // SplitMix64.
      seed &+= 0x9E37_79B9_7F4A_7C15
      var z = seed
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return Int((z ^ (z >> 31)) % UInt64(bound))
    }

    fileprivate mutating func happens(_ percent: Int) -> Bool {
      percent > 0 && draw(below: 100) < percent
    }
  }

  /// A device with an account.
  final class Device: Sendable {
    let number: Int
    let server: StandInServer

    fileprivate init(_ number: Int, _ server: StandInServer) {
      (self.number, self.server) = (number, server)
    }
  }

  /// A zone and its owner.
  fileprivate struct Place: Hashable {
    let owner: String
    let zone: String
  }

  /// A record on the server.
  public struct Content: Sendable {
    public var type = ""
    public var values: [String: any CKRecordValueProtocol & Sendable] = [:]
    public var assets: [String: Data] = [:]
  }

  fileprivate struct Stored {
    var content = Content()
    var position = 0
    var isDeleted = false
  }

  fileprivate struct Zone {
    var records: [String: Stored] = [:]
    var position = 0
    var participants: [String: CKShare.ParticipantPermission] = [:]
    var isShared = false
  }

  /// The zones and the settings of the server.
  public struct State: Sendable {
    fileprivate var zones: [Place: Zone] = [:]
    /// The zones that a user deleted in the settings of the system.
    fileprivate var deletedInSettings: Set<Place> = []
    fileprivate var creations: [Place: Int] = [:]
    /// The creations and deletions of zones, in their order.
    fileprivate var log:
      [(place: Place, deletion: CKDatabase.DatabaseChange.Deletion.Reason?)] =
        []
    fileprivate var tokenGeneration = 0
    fileprivate var accounts: [Int: String?] = [:]
    fileprivate var subscriptions: [String: Set<String>] = [:]
    /// The files that a call of a device staged.
    fileprivate var staged: [Int: [URL]] = [:]
    public var openQuestions = OpenQuestions()
    public var faults = Faults()
    /// The types of records and their keys in production, or `nil` in development.
    public var schema: [String: Set<String>]?
    /// The bytes that an account has, or `nil`.
    public var quota: Int?
    /// The most items of a call.
    public var itemLimit = 400
    /// The most changes of a page.
    public var pageLimit = 200
    /// The calls so far.
    public var calls: [Call] = []
    /// The assets that were staged so far.
    public var stagedCount = 0
    /// A closure that can throw an error before a call.
    public var fail: @Sendable (Call, Int) throws -> Void = { _, _ in }
    /// The same, after the effect of a call.
    public var failAfter: @Sendable (Call, Int) throws -> Void = { _, _ in }
  }

  private let lock = NSLock()
  nonisolated(unsafe) private var state = State()
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "cloudkit-\(UUID())")

  public init() {}

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Changes the server.
  @discardableResult
  public func set<Value>(_ body: (inout State) throws -> Value) rethrows
    -> Value
  {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  /// Returns the container on a new device.
  public func device(of user: String?) -> CKContainer {
    let number = set { state in
      let number = state.accounts.count
      state.accounts[number] = .some(user)
      return number
    }
    return CKContainer(Device(number, self))
  }
}

// Zones and accounts.
extension StandInServer {
  /// Signs another user in, or none.
  public func signIn(_ user: String?, on container: CKContainer) {
    set { $0.accounts[container.device.number] = .some(user) }
  }

  /// Ends the validity of all tokens.
  public func expireTokens() { set { $0.tokenGeneration += 1 } }

  /// Deletes a zone, as its owner's app can.
  public func deleteZone(
    _ name: String, of user: String, inSettings: Bool = false,
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason = .deleted
  ) {
    set { state in
      let place = Place(owner: user, zone: name)
      state.zones[place] = nil
      state.log.append((place, reason))
      if inSettings { state.deletedInSettings.insert(place) }
    }
  }

  /// Shares a zone with a user, or stops sharing it.
  public func share(
    _ name: String, of owner: String, with user: String,
    _ permission: CKShare.ParticipantPermission
  ) {
    set { state in
      let place = Place(owner: owner, zone: name)
      state.zones[place]?.participants[user] =
        permission == .none ? nil : permission
    }
  }

  /// Returns the names of the zones of a user.
  public func zones(of user: String) -> [String] {
    set { $0.zones.keys.filter { $0.owner == user }.map(\.zone).sorted() }
  }

  /// Returns the names of the records in a zone.
  public func records(in zone: String, of user: String) -> [String] {
    set { state in
      (state.zones[Place(owner: user, zone: zone)]?.records ?? [:])
        .filter { !$0.value.isDeleted }.keys.sorted()
    }
  }

  /// Changes a record, its type or its assets.
  public func change(
    _ record: String, in zone: String, of user: String,
    _ body: (inout Content) -> Void
  ) {
    set { state in
      let place = Place(owner: user, zone: zone)
      var next = state.zones[place] ?? Zone()
      var stored = next.records[record] ?? Stored()
      body(&stored.content)
      next.position += 1
      (stored.position, stored.isDeleted) = (next.position, false)
      next.records[record] = stored
      state.zones[place] = next
    }
  }

  /// Returns what the server has of a record.
  public func content(
    of record: String, in zone: String, of user: String
  ) -> Content {
    set { state in
      let place = Place(owner: user, zone: zone)
      return state.zones[place]?.records[record]?.content ?? Content()
    }
  }

  /// Deletes a record.
  public func delete(_ record: String, in zone: String, of user: String) {
    set { $0.zones[Place(owner: user, zone: zone)]?.delete(record) }
  }

  /// The subscriptions of a user.
  public func subscriptions(of user: String) -> Set<String> {
    set { $0.subscriptions[user] ?? [] }
  }

  /// Returns what an app gets that opens an invitation.
  ///
  /// The system invites people to a share that was saved.
  public func invitation(
    to zone: String, of owner: String,
    _ permission: CKShare.ParticipantPermission = .readWrite
  ) -> CKShare.Metadata {
    set { state in
      let isShared = state.zones[Place(owner: owner, zone: zone)]?.isShared
      return CKShare.Metadata(
        CKRecordZone.ID(zoneName: zone, ownerName: owner),
        isShared == true ? permission : .none)
    }
  }
}

// Calls.
extension StandInServer {
  private func enter(_ call: Call, on device: Device) throws {
    if !set(\.openQuestions.ignoresCancellation) {
      try Task.checkCancellation()
    }
    let files = set { state in
      state.calls.append(call)
      return state.staged.removeValue(forKey: device.number) ?? []
    }
    // The system cleans the area of staged files.
    for file in files { try? FileManager.default.removeItem(at: file) }
    try set { $0.fail }(call, device.number)
    try fault()
  }

  private func leave(_ call: Call, on device: Device) throws {
    try set { $0.failAfter }(call, device.number)
    try fault()
  }

  private func fault() throws {
    let error = set { state -> CKError? in
      guard state.faults.happens(state.faults.rate) else { return nil }
      let codes: [CKError.Code] = [
        .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable,
        .requestRateLimited, .internalError, .accountTemporarilyUnavailable,
      ]
      let code = codes[state.faults.draw(below: codes.count)]
      return CKError(code, retryAfterSeconds: code == .zoneBusy ? 1.5 : nil)
    }
    if let error { throw error }
  }

  func call<Value>(
    _ call: Call, on device: Device, _ body: (StandInServer) throws -> Value
  ) async throws -> Value {
    try enter(call, on: device)
    let value = try body(self)
    try leave(call, on: device)
    return value
  }

  func userRecordID(of device: Device) async throws -> CKRecord.ID {
    try await call(.account, on: device) { server in
      CKRecord.ID(
        recordName: try server.user(of: device),
        zoneID: CKRecordZone.ID(zoneName: "_defaultZone"))
    }
  }

  func accept(
    _ metadata: CKShare.Metadata, on device: Device
  ) async throws -> CKShare {
    try await call(.accept, on: device) { server in
      let user = try server.user(of: device)
      let zone = metadata.zoneID
      if metadata.permission == .none { throw CKError(.permissionFailure) }
      server.share(
        zone.zoneName, of: zone.ownerName, with: user, metadata.permission)
      return CKShare(recordZoneID: zone)
    }
  }

  private func user(of device: Device) throws -> String {
    guard let user = set({ $0.accounts[device.number] ?? nil })
    else { throw CKError(.notAuthenticated) }
    return user
  }

  /// Returns the zone with an ID, or throws the error of a call to it.
  private func place(
    _ id: CKRecordZone.ID, _ scope: CKDatabase.Scope, _ device: Device,
    writing: Bool = false
  ) throws -> Place {
    let user = try user(of: device)
    let isOwn = id.ownerName == CKCurrentUserDefaultName || id.ownerName == user
    guard isOwn == (scope == .private) else { throw CKError(.zoneNotFound) }
    let place = Place(owner: isOwn ? user : id.ownerName, zone: id.zoneName)
    return try set { state in
      let isDeleted = isOwn && state.deletedInSettings.contains(place)
      guard let zone = state.zones[place] else {
        throw CKError(isDeleted ? .userDeletedZone : .zoneNotFound)
      }
      if isOwn { return place }
      guard let permission = zone.participants[user]
      else { throw CKError(.zoneNotFound) }
      if writing, permission != .readWrite { throw CKError(.permissionFailure) }
      return place
    }
  }

  func save(
    _ zone: CKRecordZone, _ scope: CKDatabase.Scope, _ device: Device
  ) throws {
    let user = try user(of: device)
    if scope != .private { throw CKError(.permissionFailure) }
    let place = Place(owner: user, zone: zone.zoneID.zoneName)
    set { state in
      state.deletedInSettings.remove(place)
      if state.zones[place] != nil { return }
      state.zones[place] = Zone()
      state.creations[place, default: 0] += 1
      state.log.append((place, nil))
    }
  }

  func save(
    _ subscription: CKSubscription, _ scope: CKDatabase.Scope, _ device: Device
  ) throws {
    let user = try user(of: device)
    if let zone = subscription as? CKRecordZoneSubscription {
      if scope != .private { throw CKError(.invalidArguments) }
      _ = try place(zone.zoneID, scope, device)
    }
    set { state in
      _ = state.subscriptions[user, default: []].insert(
        subscription.subscriptionID)
    }
  }
}

// Reading.
extension StandInServer {
  func changes(
    in id: CKRecordZone.ID, _ scope: CKDatabase.Scope, _ device: Device,
    since token: CKServerChangeToken?, _ keys: [String]?, _ limit: Int?
  ) throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
      CKDatabase.RecordZoneChange.Modification, any Error
    >],
    deletions: [CKDatabase.RecordZoneChange.Deletion],
    changeToken: CKServerChangeToken, moreComing: Bool
  ) {
    let place = try place(id, scope, device)
    return try set { state in
      let zone = state.zones[place] ?? Zone()
      let creation = state.creations[place] ?? 0
      let open = state.openQuestions
      if let token {
        let isOld = token.creation != creation && !open.acceptsOldTokens
        if isOld || token.generation != state.tokenGeneration
          || state.faults.happens(state.faults.expiredTokens)
        {
          throw CKError(.changeTokenExpired)
        }
      }
      let first = token?.position ?? 0
      var changed = zone.records.filter { $0.value.position > first }
      if token == nil, !open.listsOldDeletions {
        changed = changed.filter { !$0.value.isDeleted }
      }
      let order = changed.sorted { $0.value.position < $1.value.position }
      var size = min(limit ?? .max, state.pageLimit)
      if state.faults.happens(state.faults.shortPages) {
        size = state.faults.draw(below: size + 1)
      }
      let page = order.prefix(size)
      var results:
        [CKRecord.ID: Result<
          CKDatabase.RecordZoneChange.Modification, any Error
        >] =
          [:]
      var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
      // The deletions of the rest can come first.
      let early = open.listsDeletionsFirst ? order.dropFirst(page.count) : []
      for (name, stored) in page + early.filter(\.value.isDeleted) {
        let record = CKRecord.ID(recordName: name, zoneID: id)
        let isEarly = stored.position > page.last?.value.position ?? first
        if stored.isDeleted {
          if stored.position > token?.listedDeletions ?? 0 {
            deletions.append(
              CKDatabase.RecordZoneChange.Deletion(
                recordID: record, recordType: stored.content.type))
          }
          if open.repeatsDeletedRecords, !isEarly {
            results[record] = .failure(CKError(.unknownItem))
          }
        } else if state.faults.happens(state.faults.failedRecords) {
          results[record] = .failure(CKError(.internalError))
        } else {
          results[record] = .success(
            CKDatabase.RecordZoneChange.Modification(
              record: self.record(stored, record, keys, &state, device)))
        }
      }
      let isLast = page.count == order.count
      let listed = token?.listedDeletions ?? 0
      let listsEarly =
        open.listsDeletionsFirst && (token != nil || open.listsOldDeletions)
      let next = CKServerChangeToken(
        creation: creation,
        position: isLast ? zone.position : page.last?.value.position ?? first,
        generation: state.tokenGeneration,
        listedDeletions: listsEarly ? zone.position : listed)
      return (results, deletions, next, !isLast)
    }
  }

  func databaseChanges(
    _ scope: CKDatabase.Scope, _ device: Device,
    since token: CKServerChangeToken?
  ) throws -> (
    modifications: [CKDatabase.DatabaseChange.Modification],
    deletions: [CKDatabase.DatabaseChange.Deletion],
    changeToken: CKServerChangeToken, moreComing: Bool
  ) {
    let user = try user(of: device)
    return set { state in
      let first = token?.position ?? 0
      // A page has one change.
      let page = state.log.dropFirst(first).prefix(1).filter {
        $0.place.owner == user && scope == .private
      }
      let zones = page.map {
        ($0.deletion, CKRecordZone.ID(zoneName: $0.place.zone))
      }
      let next = min(first + 1, state.log.count)
      return (
        zones.filter { $0.0 == nil }.map {
          CKDatabase.DatabaseChange.Modification(zoneID: $0.1)
        },
        zones.compactMap { reason, zone in
          reason.map {
            CKDatabase.DatabaseChange.Deletion(zoneID: zone, reason: $0)
          }
        },
        CKServerChangeToken(
          creation: 0, position: next, generation: 0, listedDeletions: 0),
        next < state.log.count
      )
    }
  }

  func records(
    _ ids: [CKRecord.ID], _ scope: CKDatabase.Scope, _ device: Device,
    _ keys: [String]?
  ) throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
    let limit = set(\.itemLimit)
    if ids.count > limit { throw CKError(.limitExceeded) }
    var results: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
    for id in ids {
      do {
        let place = try place(id.zoneID, scope, device)
        results[id] = try set { state in
          let stored = state.zones[place]?.records[id.recordName]
          guard let stored, !stored.isDeleted
          else { throw CKError(.unknownItem) }
          return .success(record(stored, id, keys, &state, device))
        }
      } catch {
        try throwIfWhole(error)
        results[id] = .failure(error)
      }
    }
    return results
  }

  /// Throws an error that concerns the whole call.
  private func throwIfWhole(_ error: any Error) throws {
    let ofZone: [CKError.Code] = [.zoneNotFound, .userDeletedZone]
    guard let error = error as? CKError else { throw error }
    if error.code == .notAuthenticated { throw error }
    if ofZone.contains(error.code), !set(\.openQuestions.reportsZoneByItem) {
      throw error
    }
  }

  /// Returns the copy of a record, whose assets are staged if they are desired.
  private func record(
    _ stored: Stored, _ id: CKRecord.ID, _ keys: [String]?,
    _ state: inout State, _ device: Device
  ) -> CKRecord {
    let record = CKRecord(recordType: stored.content.type, recordID: id)
    record.recordChangeTag = "\(stored.position)"
    for (key, value) in stored.content.values where keys?.contains(key) ?? true
    {
      record.values[key] = value
    }
    for (key, bytes) in stored.content.assets where keys?.contains(key) ?? true
    {
      let file = folder.appending(path: "\(UUID())")
      state.stagedCount += 1
      if !state.faults.happens(state.faults.lostFiles) {
        try? FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true)
        try? bytes.write(to: file)
        state.staged[device.number, default: []].append(file)
      }
      record.values[key] = CKAsset(fileURL: file)
    }
    return record
  }
}

// Writing.
extension CKRecord {
  /// The bytes without assets.
  fileprivate var byteCount: Int {
    values.values.reduce(0) { $0 + (($1 as? String)?.utf8.count ?? 8) }
  }
}

extension StandInServer.Zone {
  fileprivate mutating func delete(_ name: String) {
    guard let stored = records[name], !stored.isDeleted else { return }
    position += 1
    records[name] = StandInServer.Stored(
      content: StandInServer.Content(type: stored.content.type),
      position: position, isDeleted: true)
  }

  fileprivate var byteCount: Int {
    records.values.reduce(0) { sum, record in
      record.content.assets.values.reduce(sum) { $0 + $1.count }
    }
  }
}

extension StandInServer {
  func modify(
    _ records: [CKRecord], _ deletions: [CKRecord.ID],
    _ scope: CKDatabase.Scope, _ device: Device,
    _ policy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool
  ) throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  ) {
    if records.count + deletions.count > set(\.itemLimit) {
      throw CKError(.limitExceeded)
    }
    let size = records.reduce(0) { $0 + $1.byteCount }
    if size > 2_000_000 { throw CKError(.limitExceeded) }
    let before = set(\.zones)
    var saved: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
    var deleted: [CKRecord.ID: Result<Void, any Error>] = [:]
    var errors: [CKRecord.ID: CKError] = [:]
    func attempt(_ id: CKRecord.ID, _ body: () throws -> Void) throws -> (
      any Error
    )? {
      do { try body() } catch {
        try throwIfWhole(error)
        errors[id] = error as? CKError
        return error
      }
      return nil
    }
    for record in records {
      let error = try attempt(record.recordID) {
        try save(record, scope, device, policy)
      }
      saved[record.recordID] = error.map { .failure($0) } ?? .success(record)
    }
    for id in deletions {
      let error = try attempt(id) { try delete(id, scope, device) }
      deleted[id] = error.map { .failure($0) } ?? .success(())
    }
    if atomically, let first = errors.values.first {
      set { $0.zones = before }
      let isOne = records.count + deletions.count == 1
      if isOne, set(\.openQuestions.throwsErrorOfItem) { throw first }
      for id in saved.keys where errors[id] == nil {
        errors[id] = CKError(.batchRequestFailed)
      }
      for id in deleted.keys where errors[id] == nil {
        errors[id] = CKError(.batchRequestFailed)
      }
      throw CKError(.partialFailure, partialErrors: errors)
    }
    return (saved, deleted)
  }

  private func delete(
    _ id: CKRecord.ID, _ scope: CKDatabase.Scope, _ device: Device
  ) throws {
    let place = try place(id.zoneID, scope, device, writing: true)
    try set { state in
      let stored = state.zones[place]?.records[id.recordName]
      if stored?.isDeleted ?? true, !state.openQuestions.deletesMissingRecords {
        throw CKError(.unknownItem)
      }
      state.zones[place]?.delete(id.recordName)
    }
  }

  private func save(
    _ record: CKRecord, _ scope: CKDatabase.Scope, _ device: Device,
    _ policy: CKModifyRecordsOperation.RecordSavePolicy
  ) throws {
    let id = record.recordID
    let place = try place(id.zoneID, scope, device, writing: true)
    if record is CKShare {
      try set { state in
        if state.zones[place]?.isShared == true {
          throw CKError(.serverRecordChanged)
        }
        state.zones[place]?.isShared = true
      }
      return
    }
    let name = id.recordName
    if name.isEmpty || name.utf8.count > 255 || name.hasPrefix("_")
      || !name.utf8.allSatisfy({ $0 < 128 })
    {
      throw CKError(.invalidArguments)
    }
    var values: [String: any CKRecordValueProtocol & Sendable] = [:]
    var assets: [String: Data] = [:]
    for (key, value) in record.values {
      switch value {
      case let number as Int: values[key] = number
      case let text as String: values[key] = text
      case let asset as CKAsset:
        guard let file = asset.fileURL, let bytes = try? Data(contentsOf: file)
        else { throw CKError(.invalidArguments) }
        if bytes.count > 50_000_000 { throw CKError(.limitExceeded) }
        assets[key] = bytes
      default: throw CKError(.invalidArguments)
      }
    }
    if record.byteCount > 1_000_000 { throw CKError(.limitExceeded) }
    try set { state in
      if let schema = state.schema {
        let known = schema[record.recordType]
        guard let known, known.isSuperset(of: record.values.keys)
        else { throw CKError(.invalidArguments) }
      }
      let most = state.openQuestions.assetsPerRecord
      if assets.count > most.count { throw CKError(most.code) }
      var zone = state.zones[place] ?? Zone()
      if let old = zone.records[name], !old.isDeleted,
        policy == .ifServerRecordUnchanged,
        record.recordChangeTag != "\(old.position)"
      {
        throw CKError(.serverRecordChanged)
      }
      let count = assets.values.reduce(0) { $0 + $1.count }
      if let quota = state.quota, zone.byteCount + count > quota {
        throw CKError(.quotaExceeded)
      }
      zone.position += 1
      zone.records[name] = Stored(
        content: Content(
          type: record.recordType, values: values, assets: assets),
        position: zone.position)
      state.zones[place] = zone
      record.recordChangeTag = "\(zone.position)"
    }
  }
}
