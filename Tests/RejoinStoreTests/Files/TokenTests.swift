// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Backups and copies, which the token distinguishes from the latest state.
@Suite final class TokenTests: StoreSuite {
  /// Opens the store again with a new device ID at hand.
  private func reopen(_ name: String = "notes.sqlite") throws -> StoredScope {
    try open(folder.file(name), token: tokenStorage, as: 2)
  }

  @Test func exportStoresTokenFirst() throws {
    let store = try open(path, token: tokenStorage)
    let first = try #require(tokenStorage.bytes)
    try store.write("one")
    #expect(tokenStorage.bytes == first)
    #expect(try store.export { $0.delta() } != nil)
    #expect(
      try RestoreToken(decoding: try #require(tokenStorage.bytes))
        == store.replica.restoreToken)
  }

  @Test func exportThrowsIfTokenCannotBeStored() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("one")
    tokenStorage.fails = true
    let error = #expect(throws: StoreError.self) {
      try store.export { _ in Issue.record("sent") }
    }
    guard case .tokenNotStored = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    tokenStorage.fails = false
    #expect(try store.export { $0.delta() } != nil)
  }

  @Test func backupBeforeSendTakesNewDevice() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("one")
    try folder.copy("notes.sqlite", to: "backup.sqlite")
    try store.write("two")
    let sent = try #require(try store.export { $0.delta() })
    let restored = try reopen("backup.sqlite")
    #expect(restored.deviceChange?.old == DeviceID(1))
    #expect(restored.replica.device == DeviceID(2))
    let dot = try #require(try restored.write("three").dot)
    #expect(dot == Dot(DeviceID(2), 1))
    // The lost save returns, in addition to the later save.
    try restored.update { _ = $0.apply(sent) }
    #expect(restored.replica.version[DeviceID(1)].sequence == 2)
    // The new device is kept.
    let again = try open(
      folder.file("backup.sqlite"), token: tokenStorage, as: 3)
    #expect(again.deviceChange == nil)
    #expect(again.bytes == restored.bytes)
  }

  @Test func crashBeforeTokenKeepsDevice() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("one")
    try store.export { _ = $0.delta() }
    try store.write("two")
    let again = try reopen()
    #expect(again.deviceChange == nil)
    #expect(again.bytes == store.bytes)
  }

  @Test(arguments: [nil, [], [1, 2, 3]] as [[UInt8]?])
  func lostOrDamagedTokenTakesNewDevice(_ bytes: [UInt8]?) throws {
    try open(path, token: tokenStorage).write("one")
    tokenStorage.bytes = bytes
    #expect(try reopen().deviceChange?.new == DeviceID(2))
  }

  @Test func tokenOfOtherDeviceTakesNewDevice() throws {
    let other = TestTokenStorage()
    let stranger = try open(folder.file("other"), token: other, as: 7)
    try stranger.write("other")
    try stranger.export { _ = $0.delta() }
    try open(path, token: tokenStorage).write("one")
    tokenStorage.bytes = other.bytes
    #expect(try reopen().deviceChange?.new == DeviceID(2))
  }

  @Test func unreadableTokenThrows() throws {
    try open(path, token: tokenStorage).write("one")
    tokenStorage.fails = true
    let error = #expect(throws: StoreError.self) { try reopen() }
    guard case .tokenUnreadable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    tokenStorage.fails = false
    #expect(try reopen().deviceChange == nil)
  }

  @Test func copiedFileTakesNewDevice() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("one")
    try folder.copy("notes.sqlite", to: "copy.sqlite")
    let copy = try open(
      folder.file("copy.sqlite"), token: TestTokenStorage(), as: 5)
    #expect(copy.deviceChange?.new == DeviceID(5))
    #expect(try copy.write("two").dot == Dot(DeviceID(5), 1))
    #expect(try store.write("two").dot == Dot(DeviceID(1), 2))
  }

  /// The copy has the token, so it is detected only when the histories meet.
  @Test func cloneTakesNewDeviceWhenHistoriesMeet() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("one")
    try folder.copy("notes.sqlite", to: "clone.sqlite")
    let own = TestTokenStorage()
    own.bytes = tokenStorage.bytes
    let path = folder.file("clone.sqlite")
    let clone = try open(path, token: own, as: 5)
    #expect(clone.deviceChange == nil)
    try store.write("two")
    let sent = try #require(try store.export { $0.delta() })
    try clone.update { _ = $0.apply(sent) }
    // The new device has as many saves as the old one, with different digests.
    #expect(try clone.write("three").dot == Dot(DeviceID(5), 1))
    #expect(clone.deviceChange?.new == DeviceID(5))
    try clone.export { _ = $0.delta() }
    let again = try open(path, token: own, as: 6)
    #expect(again.deviceChange == nil)
    #expect(again.bytes == clone.bytes)
  }

  @Test func tokenFileIsReplacedAtomically() throws {
    let file = TokenFile(at: folder.file("token"))
    #expect(try file.load() == nil)
    for bytes in [[1, 2, 3], [], Array(repeating: 7, count: 51)] as [[UInt8]] {
      try file.store(bytes)
      #expect(try file.load() == bytes)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        == ["token"])
    #expect(throws: TokenFile.Failure.self) {
      try TokenFile(at: folder.file("none/token")).store([1])
    }
  }

  @Test func failedTokenFileKeepsContent() throws {
    let file = TokenFile(at: folder.file("token"))
    try file.store([1, 2, 3])
    // The disk is full.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("token.new"), withDestinationPath: "/dev/full")
    #expect(throws: TokenFile.Failure.self) { try file.store([4]) }
    #expect(try file.load() == [1, 2, 3])
    // An unreadable file does not count as missing.
    let loop = folder.file("loop")
    try FileManager.default.createSymbolicLink(
      atPath: loop, withDestinationPath: loop)
    #expect(throws: TokenFile.Failure.self) { try TokenFile(at: loop).load() }
  }

  /// Another store opens the scope before each statement and each file access
  /// of an export.
  @Test func supersededStoreDoesNotLowerToken() throws {
    for step in 0..<8 {
      let (path, tokenStorage) = (folder.file("\(step).sqlite"), HookedKeeper())
      var steps = 0
      func open() throws -> (StoredScope, HookedConnection) {
        let connection = HookedConnection(
          try SQLiteConnection(opening: path, timeout: .zero))
        try connection.run("PRAGMA journal_mode = WAL")
        let scope = try StoredScope(
          "main", on: connection, schema: [Note.self],
          wallClock: ManualClock().wallClock, token: tokenStorage,
          makeDeviceID: { DeviceID(1) })
        return (scope, connection)
      }
      let (first, connection) = try open()
      try first.write("Milk")
      var later: UInt64?
      let interrupt = {
        steps += 1
        guard steps == step + 1 else { return }
        // The second store cannot open the scope while the first one holds the
        // lock.
        guard let (second, _) = try? open() else { return }
        for title in ["Bread", "Butter"] { try second.write(title) }
        try second.export { _ = $0.delta() }
        later = second.replica.restoreToken.sequence
      }
      connection.before = { _ in try interrupt() }
      tokenStorage.beforeStoring = interrupt
      _ = try? first.export { _ in }
      connection.before = { _ in }
      tokenStorage.beforeStoring = {}
      let token = try RestoreToken(decoding: #require(tokenStorage.bytes))
      #expect(token.sequence == later ?? 1, "step \(step)")
      #expect(step > 0 || later == 3)
      #expect(steps > 3)
    }
  }

  @Test func tokenStaysNextToFileWithRelativePath() async throws {
    await #expect(processExitsWith: .success) {
      [folder = folder.path as String] in
      let files = FileManager.default
      for name in ["one", "two"] {
        try files.createDirectory(
          atPath: folder + "/" + name, withIntermediateDirectories: true)
      }
      func open(as device: UInt64) async throws -> ReplicaStore {
        try await ReplicaStore(
          at: "notes.sqlite", schema: [Note.self],
          makeDeviceID: { DeviceID(device) })
      }
      _ = files.changeCurrentDirectoryPath(folder + "/one")
      let store = try await open(as: 1)
      let token = TokenFile(at: "other.token")
      try await store.save { $0[Note.self, "1"].title = "Milk" }
      _ = files.changeCurrentDirectoryPath(folder + "/two")
      _ = try await store.delta(since: ReplicaVersion())
      try await store.backup(to: "copy.sqlite")
      try await store.close()
      try token.store([1])
      let strays = try files.contentsOfDirectory(atPath: folder + "/two")
      precondition(strays == ["copy.sqlite"])
      precondition(files.fileExists(atPath: folder + "/one/other.token"))
      _ = files.changeCurrentDirectoryPath(folder + "/one")
      let change = try await open(as: 2).deviceChange
      precondition(change == nil)
      let bytes = try TokenFile(beside: "notes.sqlite").load() ?? []
      let kept = try RestoreToken(decoding: bytes)
      precondition(kept.sequence == 1)
    }
  }

  /// The names have any length and any characters.
  @Test func eachScopeHasOwnToken() async throws {
    let long = String(repeating: "x", count: 1_024)
    let scopes =
      ["main", "b", "\0", "/", "é", "e\u{301}", "62", "token", ".token-62"]
      + [79, 80, 81, 118].map { String(repeating: "y", count: $0) }
      + [long, String(long.dropLast()) + "z"]
    let names = ["list", "list.62"]
    for (i, name) in names.enumerated() {
      for (j, scope) in scopes.enumerated() {
        let device = UInt64(100 * i + j + 1)
        let store = try await ReplicaStore(
          at: folder.file(name), scope: scope, schema: [Note.self],
          wallClock: ManualClock().wallClock,
          makeDeviceID: { DeviceID(device) })
        #expect(await store.device == DeviceID(device))
        try await store.save { $0[Note.self, "1"].title = "Milk" }
        _ = try await store.delta(since: ReplicaVersion())
        try await store.close()
      }
    }
    let tokens = try FileManager.default.contentsOfDirectory(
      atPath: folder.path
    ).filter { !names.contains($0) }
    #expect(tokens.count == names.count * scopes.count)
    for (i, name) in names.enumerated() {
      for (j, scope) in scopes.enumerated() {
        let token = TokenFile(beside: folder.file(name), scope: scope)
        #expect(
          try RestoreToken(decoding: try #require(try token.load())).device
            == DeviceID(UInt64(100 * i + j + 1)))
      }
    }
  }

  /// A file name has at most 255 bytes.
  @Test func longFileNameLeavesRoomForScope() throws {
    let name = String(repeating: "f", count: 200)
    var names: Set<String> = []
    for count in [1, 16, 17, 80, 81, 1_024] {
      let scope = String(repeating: "s", count: count)
      let token = TokenFile(beside: folder.file(name), scope: scope)
      try token.store([UInt8(count % 251)])
      names = Set(
        try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }
    #expect(names.count == 6)
  }

  @Test func pathWithNULThrows() async throws {
    let path = folder.file("nul\0x.sqlite")
    let error = await #expect(throws: StoreError.self) {
      _ = try await ReplicaStore(at: path, schema: [Note.self])
    }
    #expect("\(try #require(error))".contains("NUL"))
    #expect(throws: SQLError.self) { try SQLiteConnection(opening: path) }
    let token = TokenFile(at: path)
    #expect(throws: TokenFile.Failure.self) { try token.load() }
    #expect(throws: TokenFile.Failure.self) { try token.store([1]) }
    #expect(throws: TokenFile.Failure.self) { try token.remove() }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}

/// A token in memory, which calls a closure before it is stored.
private final class HookedKeeper: TokenStorage, @unchecked Sendable {
  // One thread uses it.
  var bytes: [UInt8]?
  var beforeStoring: () throws -> Void = {}

  func load() -> [UInt8]? { bytes }
  func store(_ bytes: [UInt8]) throws {
    try beforeStoring()
    self.bytes = bytes
  }
}
