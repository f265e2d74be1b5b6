// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import Foundation
import Rejoin
import RejoinStore
import RejoinSync
import Testing

/// The methods of the storage.
@Suite class CloudKitStorageTests: ZoneSuite {
  private typealias Call = StandInServer.Call

  @Test func objectsAreRecords() async throws {
    let storage = try await storage()
    #expect(storage.confirmsWrites)
    #expect(try await storage.identity() == "anna")
    let name = Self.name()
    try await storage.put(name, [1, 2, 3])
    #expect(records == [name])
    let list = try await storage.list()
    #expect(list.map(\.name) == [name] && list.map(\.byteCount) == [3])
    #expect(server.set(\.stagedCount) == 0)
    #expect(try await storage.get(name) == [1, 2, 3])
    #expect(server.set(\.stagedCount) == 1)
    try await storage.delete([name])
    #expect(try await storage.get(name) == nil)
    #expect(try await storage.list().isEmpty)
  }

  @Test func listAsksForChangesOnly() async throws {
    let (one, other) = (try await storage(), try await storage())
    for i in 0..<450 { try await one.put(Self.name(i), [1]) }
    #expect(try await other.list().count == 450)
    let idle = try await calls { _ = try await other.list() }
    #expect(idle == [.changes])
    try await one.delete([Self.name(3), Self.name(300)])
    try await one.put(Self.name(900), [1, 2])
    let names = Set(try await other.list().map(\.name))
    #expect(names.count == 449 && names.contains(Self.name(900)))
    #expect(!names.contains(Self.name(3)) && !names.contains(Self.name(300)))
  }

  // MARK: The table of errors

  @Test(
    "`changeTokenExpired`: list again from nothing", arguments: [false, true])
  func tokenExpires(inTheMiddle: Bool) async throws {
    let (one, other) = (try await storage(), try await storage())
    for i in 0..<450 { try await one.put(Self.name(i), [1]) }
    if !inTheMiddle { _ = try await other.list() }
    try await one.delete([Self.name(3)])
    if inTheMiddle {
      let server = server
      server.set { state in
        state.failAfter = { call, _ in
          guard server.set({ $0.calls.count { $0 == .changes } }) == 2 else {
            return
          }
          server.expireTokens()
        }
      }
    } else {
      server.expireTokens()
    }
    var count = 0
    let calls = try await calls { count = try await other.list().count }
    #expect(count == 449 && calls.count == (inTheMiddle ? 6 : 4))
  }

  @Test func pageFailsInTheMiddle() async throws {
    let (one, other) = (try await storage(), try await storage())
    for i in 0..<450 { try await one.put(Self.name(i), [1]) }
    server.set { $0.calls = [] }
    let server = server
    server.set { state in
      state.fail = { call, _ in
        if server.set({ $0.calls.count }) == 2 {
          throw CKError(.networkFailure)
        }
      }
    }
    await #expect(throws: SyncRefusal.busy(seconds: 0)) {
      _ = try await other.list()
    }
    repair()
    // The first page is not asked for again.
    var count = 0
    let rest = try await calls { count = try await other.list().count }
    #expect(count == 450 && rest == [.changes, .changes])
  }

  @Test(
    "Errors of calls are refusals",
    arguments: [
      (CKError.Code.zoneNotFound, SyncRefusal.gone),
      (.userDeletedZone, .gone),
      (.notAuthenticated, .wrongScope),
      (.permissionFailure, .denied),
      (.quotaExceeded, .full),
      (.serviceUnavailable, .busy(seconds: 3)),
      (.requestRateLimited, .busy(seconds: 3)),
      (.zoneBusy, .busy(seconds: 3)),
      (.networkFailure, .busy(seconds: 3)),
      (.networkUnavailable, .busy(seconds: 3)),
    ])
  func errorsAreRefusals(_ code: CKError.Code, _ refusal: SyncRefusal)
    async throws
  {
    let storage = try await storage()
    let name = Self.name()
    try await storage.put(name, [1])
    for call in [Call.account, .changes, .records, .save, .delete, .saveZone] {
      fail(call, code, after: 2.5)
      await #expect(throws: refusal, "\(call)") {
        switch call {
        case .account: _ = try await storage.identity()
        case .changes: _ = try await storage.list()
        case .records: _ = try await storage.get(name)
        case .save: try await storage.put(Self.name(2), [1])
        case .delete: try await storage.delete([name])
        default: try await storage.create()
        }
      }
    }
    #expect(records == [name])
  }

  @Test func waitOfServerIsAtMostADay() async throws {
    let storage = try await storage()
    for (asked, seconds) in [
      (1e300, 86_400), (.infinity, 86_400), (0.1, 1), (-5, 0), (.nan, 0),
    ] {
      fail(.changes, .zoneBusy, after: asked)
      await #expect(throws: SyncRefusal.busy(seconds: seconds)) {
        _ = try await storage.list()
      }
    }
  }

  @Test("Any other error is that of CloudKit")
  func otherErrors() async throws {
    let storage = try await storage()
    for code in [CKError.Code.internalError, .accountTemporarilyUnavailable] {
      fail(.changes, code)
      await #expect {
        _ = try await storage.list()
      } throws: { ($0 as? CKError)?.code == code }
    }
  }

  @Test("`limitExceeded` of a `delete`: halve the group")
  func deletionsAreHalved() async throws {
    let storage = try await storage()
    for i in 0..<500 { try await storage.put(Self.name(i), [1]) }
    server.set { $0.itemLimit = 30 }
    try await storage.delete((0..<500).map(Self.name))
    #expect(records.isEmpty)
  }

  @Test func deletionOfOneItemIsTooLarge() async throws {
    let storage = try await storage()
    fail(.delete, .limitExceeded)
    await #expect(throws: SyncRefusal.tooLarge) {
      try await storage.delete([Self.name(1), Self.name(2)])
    }
  }

  @Test(
    "`partialFailure` of a `delete`: halve the group, then the item's error")
  func deletionsFailInPart() async throws {
    let storage = try await storage()
    for i in 0..<10 { try await storage.put(Self.name(i), [1]) }
    let attempts = await calls {
      fail(.delete, .partialFailure)
      await #expect(throws: CKError.self) {
        try await storage.delete((0..<4).map(Self.name))
      }
    }
    #expect(attempts.count == 7)
    let id = CKRecord.ID(recordName: Self.name(), zoneID: Self.zone)
    server.set {
      $0.fail = { call, _ in
        throw CKError(
          .partialFailure, partialErrors: [id: CKError(.permissionFailure)])
      }
    }
    await #expect(throws: SyncRefusal.denied) {
      try await storage.delete([Self.name()])
    }
    await #expect(throws: SyncRefusal.denied) {
      try await storage.put(Self.name(), [1])
    }
  }

  @Test(
    "`serverRecordChanged` of a `put`: a lost request had done it",
    arguments: [false, true])
  func putIsRepeated(throwing: Bool) async throws {
    let storage = try await storage()
    server.set { $0.openQuestions.throwsErrorOfItem = throwing }
    server.set { $0.failAfter = { _, _ in throw CKError(.networkFailure) } }
    await #expect(throws: SyncRefusal.busy(seconds: 0)) {
      try await storage.put(Self.name(), [1])
    }
    repair()
    try await storage.put(Self.name(), [1])
    #expect(try await storage.get(Self.name()) == [1])
  }

  @Test("`unknownItem` of a `delete`: success", arguments: [false, true])
  func deletionIsRepeated(succeeds: Bool) async throws {
    let storage = try await storage()
    server.set { $0.openQuestions.deletesMissingRecords = succeeds }
    try await storage.put(Self.name(1), [1])
    try await storage.put(Self.name(2), [1])
    try await storage.delete([Self.name(1)])
    try await storage.delete([Self.name(1), Self.name(2), Self.name(3)])
    #expect(records.isEmpty)
  }

  @Test(arguments: [CKError.Code.zoneNotFound, .userDeletedZone])
  func zoneIsGoneItemByItem(_ code: CKError.Code) async throws {
    let storage = try await storage()
    try await storage.put(Self.name(), [1])
    server.deleteZone("list", of: "anna", inSettings: code == .userDeletedZone)
    for byItem in [false, true] {
      server.set { $0.openQuestions.reportsZoneByItem = byItem }
      await #expect(throws: SyncRefusal.gone) {
        _ = try await storage.get(Self.name())
      }
      await #expect(throws: SyncRefusal.gone) {
        try await storage.put(Self.name(2), [1])
      }
      await #expect(throws: SyncRefusal.gone) {
        try await storage.delete([Self.name()])
      }
      await #expect(throws: SyncRefusal.gone) { _ = try await storage.list() }
    }
  }

  // MARK: Large files

  private static let large = [UInt8](unsafeUninitializedCapacity: 100_000_000) {
    for i in 0..<100_000_000 { $0[i] = UInt8(truncatingIfNeeded: i &* 31 >> 7) }
    $1 = 100_000_000
  }

  @Test func fileOf100MBHasFourAssets() async throws {
    let storage = try await storage()
    try await storage.put(Self.name(), Self.large)
    #expect(try await storage.list().map(\.byteCount) == [100_000_000])
    #expect(try await storage.get(Self.name()) == Self.large)
    #expect(server.set(\.stagedCount) == 3)
  }

  @Test(arguments: [
    CKError.Code.limitExceeded, .invalidArguments, .serverRejectedRequest,
  ])
  func serverTakesOneAsset(_ code: CKError.Code) async throws {
    let storage = try await storage()
    server.set { $0.openQuestions.assetsPerRecord = (1, code) }
    await #expect(throws: SyncRefusal.tooLarge) {
      try await storage.put(Self.name(), Self.large)
    }
    #expect(records.isEmpty)
    try await storage.put(Self.name(2), Array(Self.large.prefix(32 << 20)))
  }

  @Test func moreThan256MiBAreTooLarge() async throws {
    let storage = try await storage()
    let bytes = [UInt8](repeating: 1, count: 256 << 20 + 1)
    let calls = await calls {
      await #expect(throws: SyncRefusal.tooLarge) {
        try await storage.put(Self.name(), bytes)
      }
    }
    #expect(calls.isEmpty)
  }

  @Test("A type or a key that production does not know is no refusal")
  func schemaIsNotDeployed() async throws {
    let storage = try await storage()
    server.set { $0.schema = ["RejoinObject": ["size"]] }
    await #expect {
      try await storage.put(Self.name(), [1])
    } throws: { ($0 as? CKError)?.code == .invalidArguments }
    server.set {
      $0.schema = ["RejoinObject": ["size", "bytes0"]]
    }
    try await storage.put(Self.name(), [1])
  }

  // MARK: Records of others

  private func change(_ body: (inout StandInServer.Content) -> Void) {
    server.change(Self.name(), in: "list", of: "anna", body)
  }

  @Test func foreignRecordsAreIgnored() async throws {
    let storage = try await storage()
    try await storage.put(Self.name(), [1])
    server.change(Self.name(2), in: "list", of: "anna") { $0.type = "Photo" }
    #expect(try await storage.list().map(\.name) == [Self.name()])
  }

  @Test(
    "A record that is not complete has no bytes",
    arguments: [
      "no size", "negative", "no asset", "gap", "empty", "short", "long",
    ])
  func incompleteRecords(_ fault: String) async throws {
    let storage = try await storage()
    try await storage.put(Self.name(), Array(Self.large.prefix(32 << 20 + 9)))
    change { content in
      let first = content.assets["bytes0"]
      switch fault {
      case "no size": content.values["size"] = nil
      case "negative": content.values["size"] = -5
      case "no asset": content.assets = [:]
      case "gap":
        content.assets["bytes2"] = content.assets.removeValue(forKey: "bytes1")
      case "empty": content.assets["bytes1"] = Data()
      case "short": content.assets["bytes0"] = first?.dropLast()
      default: content.assets["bytes0"] = first.map { $0 + Data([1]) }
      }
    }
    let size = try #require(try await storage.list().first).byteCount
    #expect(size >= 0)
    #expect(try await storage.get(Self.name()) == [])
  }

  @Test func assetAboveItsLimitIsNotRead() async throws {
    let storage = try await storage()
    try await storage.put(Self.name(), [1])
    change { $0.assets["bytes0"] = Data(count: 60_000_000) }
    #expect(try await storage.get(Self.name()) == [])
    change { $0.values["size"] = Int.max }
    #expect(try await storage.get(Self.name()) == [])
  }

  @Test func tokenThatAlwaysExpiresEndsTheCall() async throws {
    let (one, other) = (try await storage(), try await storage())
    for i in 0..<450 { try await one.put(Self.name(i), [1]) }
    server.set { $0.faults.expiredTokens = 100 }
    await #expect {
      _ = try await other.list()
    } throws: { ($0 as? CKError)?.code == .changeTokenExpired }
    server.set { $0.faults.expiredTokens = 0 }
    #expect(try await other.list().count == 450)
  }

  @Test func stagedFileIsNotThere() async throws {
    let storage = try await storage()
    try await storage.put(Self.name(), [1])
    server.set { $0.faults.lostFiles = 100 }
    await #expect(throws: ObjectStorageError.self) {
      _ = try await storage.get(Self.name())
    }
    server.set { $0.faults.lostFiles = 0 }
    #expect(try await storage.get(Self.name()) == [1])
  }

  @Test func recordOfPageHasAnError() async throws {
    let (one, other) = (try await storage(), try await storage())
    try await one.put(Self.name(1), [1, 2])
    server.set { $0.faults.failedRecords = 100 }
    #expect(try await other.list().map(\.name) == [Self.name(1)])
    server.set { $0.faults.failedRecords = 0 }
    #expect(try await other.get(Self.name(1)) == [1, 2])
    // The name can be that of a deleted record.
    try await one.delete([Self.name(1)])
    server.set { $0.openQuestions.repeatsDeletedRecords = true }
    #expect(try await other.list().isEmpty)
  }

  @Test(arguments: [false, true], [false, true])
  func deletionsCanBeListedFirst(old: Bool, repeats: Bool) async throws {
    let (one, other) = (try await storage(), try await storage())
    server.set {
      $0.openQuestions.listsDeletionsFirst = true
      $0.openQuestions.listsOldDeletions = old
      $0.openQuestions.repeatsDeletedRecords = repeats
      $0.pageLimit = 3
    }
    for i in 0..<10 { try await one.put(Self.name(i), [1]) }
    try await one.delete([Self.name(3), Self.name(9)])
    #expect(Set(try await other.list().map(\.name)).count == 8)
    for i in 10..<20 { try await one.put(Self.name(i), [1]) }
    try await one.delete([Self.name(4), Self.name(15)])
    #expect(Set(try await other.list().map(\.name)).count == 16)
  }

  @Test(
    "A zone that was created again can take an old token",
    arguments: [false, true])
  func zoneIsCreatedAgain(accepts: Bool) async throws {
    let (one, other) = (try await storage(), try await storage())
    server.set { $0.openQuestions.acceptsOldTokens = accepts }
    for i in 0..<3 { try await one.put(Self.name(i), [1]) }
    _ = try await other.list()
    server.deleteZone("list", of: "anna", inSettings: true)
    try await one.create()
    // The first call to a record of the old zone shows it.
    #expect(try await other.list().isEmpty != accepts)
    #expect(try await other.get(Self.name()) == nil)
    #expect(try await other.list().isEmpty)
  }

  /// The names of a former zone do not stay forever.
  @Test func everyHundredthListStartsFromNothing() async throws {
    let (one, other) = (try await storage(), try await storage())
    server.set {
      $0.openQuestions.acceptsOldTokens = true
      $0.openQuestions.deletesMissingRecords = true
    }
    try await one.put(Self.name(), [1])
    _ = try await other.list()
    server.deleteZone("list", of: "anna")
    try await one.create()
    for _ in 1..<100 {
      #expect(try await other.list().count == 1)
    }
    #expect(try await other.list().isEmpty)
  }

  @Test func canceledCallsThrow() async throws {
    let storage = try await storage()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await storage.list().count
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
