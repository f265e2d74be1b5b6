// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Open stores whose path names another file or no file.
@Suite final class ReplacedFileTests: StoreSuite {
  enum Replacement: CaseIterable {
    case renamed, removed, copied, folderRenamed
  }

  private var file: String { folder.file("folder/notes.sqlite") }
  private var copy: String { folder.file("copy.sqlite") }

  private func store(as device: UInt64) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: file, schema: [Note.self], wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(device) })
  }

  private func replace(_ replacement: Replacement) throws {
    let files = FileManager.default
    switch replacement {
    case .renamed: try files.moveItem(atPath: file, toPath: folder.file("away"))
    case .removed: try files.removeItem(atPath: file)
    case .copied:
      for end in ["", "-wal", "-shm"] {
        try files.removeItem(atPath: file + end)
      }
      try files.moveItem(atPath: copy, toPath: file)
    case .folderRenamed:
      try files.moveItem(
        atPath: folder.file("folder"), toPath: folder.file("away"))
    }
  }

  @Test(arguments: Replacement.allCases)
  func nextChangeThrowsAndChangesNothing(
    _ replacement: Replacement
  ) async throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: true)
    let store = try await store(as: 1)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.backup(to: copy)
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try replace(replacement)

    let expected = StoreError.fileReplaced(file)
    #expect("\(expected)".contains(file))
    // A new token is not stored next to another file.
    let token = try TokenFile(beside: file).load()
    await #expect(throws: expected) {
      _ = try await store.delta(since: ReplicaVersion())
    }
    #expect(try TokenFile(beside: file).load() == token)
    await #expect(throws: expected) {
      try await store.save { $0[Note.self, "1"].title = "Bread" }
    }
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    #expect(await store.version[DeviceID(1)].sequence == 1)
    await #expect(throws: expected) { _ = try await changes.next() }
    try await store.close()
  }

  /// A path that temporarily cannot be resolved can still name the file.
  @Test func unresolvablePathIsNotReplaced() throws {
    let file = DurableFile(path: path)
    try Data([1]).write(to: URL(filePath: path))
    let identity = try #require(file.identity)
    #expect(!file.isReplaced(identity))
    let loop = folder.file("loop")
    try FileManager.default.createSymbolicLink(
      atPath: loop, withDestinationPath: loop)
    #expect(!DurableFile(path: loop).isReplaced(identity))
    #expect(DurableFile(path: path + "/x").isReplaced(identity))
    #expect(DurableFile(path: path + "x").isReplaced(identity))
    #expect(DurableFile(path: folder.path).isReplaced(identity))
  }

  /// The log of the new file has the name of the old one.
  @Test func closingKeepsLogOfNewFile() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: true)
    let first = try await store(as: 1)
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    try await first.backup(to: copy)
    try replace(.copied)
    let second = try await store(as: 2)
    try await second.save { $0[Note.self, "1"].title = "Bread" }
    await #expect(throws: StoreError.self) { try await first.close() }
    try await first.close()
    #expect(
      try StoredScope.read("main", on: SQLiteConnection(opening: file)) != nil)
    try await second.save { $0[Note.self, "2"].title = "Butter" }
    let stored = try #require(
      try StoredScope.read(
        "main", on: SQLiteConnection(opening: file, .reading)))
    // Nothing was sent, so the copy is the latest state of its device.
    #expect(stored.version[DeviceID(1)].sequence == 3)
  }
}
