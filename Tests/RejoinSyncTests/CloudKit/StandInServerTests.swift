// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CloudKit

/// The server behaves as Apple's pages state.
///
/// Each test is named in `Tests/StandIns/CloudKit/SENTENCES.md`.
@Suite class StandInServerTests {
  private let server = StandInServer()
  private let container: CKContainer
  private let zone = CKRecordZone.ID(zoneName: "list")
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "rejoin-\(UUID())")

  private var database: CKDatabase { container.privateCloudDatabase }

  init() async throws {
    container = server.device(of: "anna")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
    try await database.save(CKRecordZone(zoneID: zone))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone)
  }

  private func record(_ name: String, bytes: Int? = nil) throws -> CKRecord {
    let record = CKRecord(recordType: "Note", recordID: id(name))
    record["size"] = 1
    if let bytes {
      let file = folder.appending(path: "\(UUID())")
      try Data(count: bytes).write(to: file)
      record["file"] = CKAsset(fileURL: file)
    }
    return record
  }

  private func save(_ names: String..., bytes: Int? = nil) async throws {
    for name in names {
      try await database.save(try record(name, bytes: bytes))
    }
  }

  /// Checks that a call fails with a code, perhaps inside of a partial failure.
  private func expect(
    _ code: CKError.Code, _ what: String = "", _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      Issue.record("\(what) succeeds")
    } catch let error as CKError {
      let codes = (error.partialErrorsByItemID ?? [:]).values.compactMap {
        ($0 as? CKError)?.code
      }
      #expect(error.code == code || codes.contains(code), "\(what): \(error)")
    } catch { Issue.record("\(what): \(error)") }
  }

  private typealias Page = (names: Set<String>, deleted: [String], more: Bool)

  private func page(
    since token: CKServerChangeToken?, limit: Int? = nil, keys: [String]? = nil
  ) async throws -> (page: Page, token: CKServerChangeToken) {
    let page = try await database.recordZoneChanges(
      inZoneWith: zone, since: token, desiredKeys: keys, resultsLimit: limit)
    return (
      (
        Set(page.modificationResultsByID.keys.map(\.recordName)),
        page.deletions.map(\.recordID.recordName), page.moreComing
      ), page.changeToken
    )
  }

  // MARK: Changes

  @Test func changesHaveModificationsDeletionsAndToken() async throws {
    try await save("a", "b")
    let first = try await page(since: nil)
    #expect(first.page.names == ["a", "b"] && first.page.deleted == [])
    try await save("c")
    try await database.modifyRecords(saving: [], deleting: [id("a")])
    let second = try await page(since: first.token)
    #expect(second.page.names == ["c"] && second.page.deleted == ["a"])
    #expect(!second.page.more)
  }

  @Test func historyIsFetchedWithoutToken() async throws {
    try await save("a", "b")
    _ = try await page(since: nil)
    #expect(try await page(since: nil).page.names == ["a", "b"])
  }

  @Test func systemFieldsAreFetchedWithoutKeys() async throws {
    try await save("a", bytes: 4)
    let page = try await database.recordZoneChanges(
      inZoneWith: zone, since: nil, desiredKeys: [])
    let record = try #require(
      try page.modificationResultsByID[id("a")]?.get().record)
    #expect(record["size"] == nil && record["file"] == nil)
    #expect(record.recordType == "Note" && record.recordChangeTag != nil)
  }

  @Test func serverReturnsFewerThanLimit() async throws {
    for i in 0..<9 { try await save("\(i)") }
    #expect(try await page(since: nil, limit: 4).page.names.count == 4)
    server.set { $0.faults.shortPages = 100 }
    var (counts, token) = ([Int](), CKServerChangeToken?.none)
    while counts.reduce(0, +) < 9 {
      let next = try await page(since: token, limit: 4)
      counts.append(next.page.names.count)
      token = next.token
    }
    #expect(counts.contains { $0 < 4 })
  }

  @Test func modificationCanBeAnError() async throws {
    try await save("a")
    server.set { $0.faults.failedRecords = 100 }
    let page = try await database.recordZoneChanges(
      inZoneWith: zone, since: nil)
    #expect(throws: CKError.self) {
      try page.modificationResultsByID[id("a")]?.get()
    }
  }

  // MARK: Saving

  @Test func newRecordUnderExistingNameFails() async throws {
    try await save("a")
    await expect(.serverRecordChanged) { try await save("a") }
  }

  @Test func atomicCallFailsAsAWhole() async throws {
    try await save("a")
    let records = [try record("a"), try record("b")]
    await expect(.serverRecordChanged) {
      try await database.modifyRecords(saving: records, deleting: [])
    }
    #expect(server.records(in: "list", of: "anna") == ["a"])
    let again = [try record("a"), try record("b")]
    let results = try await database.modifyRecords(
      saving: again, deleting: [], atomically: false)
    #expect(throws: CKError.self) { try results.saveResults[id("a")]?.get() }
    #expect(server.records(in: "list", of: "anna") == ["a", "b"])
  }

  @Test func modifyingNeedsNetworkAndAccount() async throws {
    server.set { $0.fail = { _, _ in throw CKError(.networkUnavailable) } }
    await expect(.networkUnavailable) { try await save("a") }
    server.set { $0.fail = { _, _ in } }
    server.signIn(nil, on: container)
    await expect(.notAuthenticated) { try await save("a") }
  }

  @Test func callHasAtMost400Items() async throws {
    let ids = (0..<401).map { id("\($0)") }
    await expect(.limitExceeded) {
      try await database.modifyRecords(
        saving: [], deleting: ids, atomically: false)
    }
    await expect(.limitExceeded) { _ = try await database.records(for: ids) }
    let few = Array(ids.dropLast())
    try await database.modifyRecords(
      saving: [], deleting: few, atomically: false)
  }

  @Test func requestHasAtMost2MBAndRecord1MB() async throws {
    func texts(_ count: Int, of size: Int) throws -> [CKRecord] {
      try (0..<count).map {
        let record = try record("\(size) \($0)")
        record["text"] = String(repeating: "x", count: size)
        return record
      }
    }
    let many = try texts(5, of: 500_000)
    await expect(.limitExceeded) {
      try await database.modifyRecords(saving: many, deleting: [])
    }
    let large = try texts(1, of: 1_000_001)
    await expect(.limitExceeded) {
      try await database.modifyRecords(saving: large, deleting: [])
    }
    let right = try texts(3, of: 500_000)
    try await database.modifyRecords(saving: right, deleting: [])
  }

  @Test func assetHasAtMost50MB() async throws {
    await expect(.limitExceeded) { try await save("a", bytes: 50_000_001) }
    try await save("a", bytes: 50_000_000)
  }

  // MARK: Assets

  @Test func assetIsStagedAndCleaned() async throws {
    try await save("a", bytes: 4)
    let ids = [id("a")]
    func file() async throws -> URL {
      let record = try await database.records(for: ids)[id("a")]?.get()
      return try #require((record?["file"] as? CKAsset)?.fileURL)
    }
    let first = try await file()
    #expect(try Data(contentsOf: first).count == 4)
    _ = try await file()
    #expect(throws: (any Error).self) { try Data(contentsOf: first) }
  }

  @Test func assetOutOfDesiredKeysIsSkipped() async throws {
    try await save("a", bytes: 4)
    _ = try await page(since: nil, keys: ["size"])
    #expect(server.set(\.stagedCount) == 0)
    _ = try await page(since: nil)
    #expect(server.set(\.stagedCount) == 1)
  }

  // MARK: Types and names

  @Test func productionKnowsItsTypesAndKeys() async throws {
    server.set { $0.schema = ["Other": ["size"]] }
    await expect(.invalidArguments) { try await save("a") }
    server.set { $0.schema = ["Note": ["size"]] }
    await expect(.invalidArguments) { try await save("a", bytes: 4) }
    try await save("a")
  }

  @Test func namesAreASCII() async throws {
    for name in ["_a", "é", String(repeating: "a", count: 256), ""] {
      await expect(.invalidArguments, name) { try await save(name) }
    }
    try await save(String(repeating: "a", count: 255))
  }

  // MARK: Errors

  @Test func busyServerTellsSeconds() async throws {
    server.set { $0.faults.rate = 100 }
    var seconds: [Double] = []
    for _ in 0..<100 {
      do { try await save("a") } catch let error as CKError {
        if error.code == .zoneBusy, let wait = error.retryAfterSeconds {
          seconds.append(wait)
        }
      }
    }
    #expect(!seconds.isEmpty)
  }

  @Test func zoneDeletedInSettingsFailsUntilSaved() async throws {
    try await save("a")
    server.deleteZone("list", of: "anna", inSettings: true)
    for _ in 0..<2 {
      await expect(.userDeletedZone) { _ = try await page(since: nil) }
      await expect(.userDeletedZone) { try await save("a") }
    }
    try await database.save(CKRecordZone(zoneID: zone))
    #expect(try await page(since: nil).page.names.isEmpty)
    server.deleteZone("list", of: "anna")
    await expect(.zoneNotFound) { _ = try await page(since: nil) }
  }

  @Test func tokenExpires() async throws {
    let token = try await page(since: nil).token
    server.expireTokens()
    await expect(.changeTokenExpired) { _ = try await page(since: token) }
  }

  @Test func deletionOfZoneHasReason() async throws {
    let token = try await database.databaseChanges(since: nil).changeToken
    server.deleteZone("list", of: "anna", .purged)
    let page = try await database.databaseChanges(since: token)
    #expect(page.deletions.map(\.reason) == [.purged])
    #expect(page.deletions.map(\.zoneID) == [zone])
  }

  // MARK: Sharing

  @Test func sharedZoneIsInSharedDatabase() async throws {
    try await save("a")
    try await database.save(CKShare(recordZoneID: zone))
    await expect(.serverRecordChanged) {
      try await database.save(CKShare(recordZoneID: zone))
    }
    let other = server.device(of: "bea")
    let shared = CKRecordZone.ID(zoneName: "list", ownerName: "anna")
    func names() async throws -> Set<String> {
      let page = try await other.sharedCloudDatabase.recordZoneChanges(
        inZoneWith: shared, since: nil)
      return Set(page.modificationResultsByID.keys.map(\.recordName))
    }
    await expect(.zoneNotFound) { _ = try await names() }
    try await other.accept(server.invitation(to: "list", of: "anna", .readOnly))
    #expect(try await names() == ["a"])
    let record = CKRecord(
      recordType: "Note",
      recordID: CKRecord.ID(recordName: "b", zoneID: shared))
    await expect(.permissionFailure) {
      try await other.sharedCloudDatabase.save(record)
    }
    server.share("list", of: "anna", with: "bea", .none)
    await expect(.zoneNotFound) { _ = try await names() }
  }

  @Test func subscriptionsAreOfOneDatabase() async throws {
    try await database.save(
      CKRecordZoneSubscription(zoneID: zone, subscriptionID: "list"))
    try await container.sharedCloudDatabase.save(
      CKDatabaseSubscription(subscriptionID: "shared"))
    #expect(server.subscriptions(of: "anna") == ["list", "shared"])
    await expect(.invalidArguments) {
      try await container.sharedCloudDatabase.save(
        CKRecordZoneSubscription(zoneID: zone, subscriptionID: "no"))
    }
  }
}
