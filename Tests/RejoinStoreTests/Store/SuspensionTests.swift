// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Stores of apps that the system suspends.
@Suite final class SuspensionTests: StoreSuite {
  private func open(as device: UInt64 = 1) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, schema: [Note.self], token: tokenStorage,
      makeDeviceID: { DeviceID(device) })
  }

  private func write(_ title: String, in store: ReplicaStore) async throws {
    try await store.save { $0[Note.self, "1"].title = title }
  }

  private func title(in store: ReplicaStore) async -> String? {
    await store.read { $0[Note.self, "1"]?.title }
  }

  /// The paths of the open files of the folder, by their numbers.
  private func openFiles() throws -> [String: String] {
    guard Self.hasLocks else { return [:] }
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: "/proc/self/fd")
      .reduce(into: [:]) { files, number in
        files[number] = try? manager.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(number)")
      }
      .filter { $0.value.hasPrefix(folder.path) }
  }

  /// The locks that this process holds on open files of the folder.
  private func locks() throws -> [Substring] {
    try openFiles().keys.flatMap { number in
      try String(
        contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8
      ).split(separator: "\n").filter { $0.hasPrefix("lock:") }
    }
  }

  private static var hasLocks: Bool {
    FileManager.default.fileExists(atPath: "/proc/self/fdinfo")
  }

  @Test(.enabled(if: hasLocks)) func suspendedStoreHoldsNoLock() async throws {
    let store = try await open()
    try await write("Milk", in: store)
    #expect(try !locks().isEmpty)
    try await store.suspend()
    #expect(try locks() == [])
    _ = await title(in: store)
    for call in Call.allCases { try? await call.make(store, folder) }
    try? await store.setNote("note", to: [1])
    #expect(try locks() == [])
    try await store.resume()
    try await write("Tea", in: store)
    #expect(try !locks().isEmpty)
  }

  enum Call: CaseIterable {
    case save, replica, apply, decode, delta, part, export, undo, tables
    case backup, delete

    func make(_ store: ReplicaStore, _ folder: Folder) async throws {
      switch self {
      case .save: try await store.save { _ in Issue.record("called") }
      case .replica: try await store.withReplica { _ in Issue.record("called") }
      case .apply: _ = try await store.apply(try delta())
      case .decode: _ = try await store.apply(decoding: try delta().encoded())
      case .delta: _ = try await store.delta(since: ReplicaVersion())
      case .part:
        _ = try await store.delta(since: ReplicaVersion(), byteLimit: 9)
      case .export: try await store.export { _ in Issue.record("called") }
      case .undo: _ = try await store.undo()
      case .tables: try await store.rebuildTables()
      case .backup: try await store.backup(to: folder.file("copy.sqlite"))
      case .delete: try await store.deleteScope()
      }
    }

    private func delta() throws -> Delta {
      let replica = Replica(
        device: DeviceID(7), schema: [Note.self],
        wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(8) })
      try replica.save { $0[Note.self, "7"].title = "Seven" }
      return try #require(replica.delta())
    }
  }

  @Test(arguments: Call.allCases)
  func callOfSuspendedStoreThrows(_ call: Call) async throws {
    let store = try await open()
    try await store.save(undoable: "Milk") { $0[Note.self, "1"].title = "Milk" }
    let version = await store.version
    try await store.suspend()
    await #expect(throws: StoreError.suspended) {
      try await call.make(store, self.folder)
    }
    #expect(await title(in: store) == "Milk")
    #expect(await store.version == version)
    #expect(!store.isSuperseded)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names == ["notes.sqlite"])
    // Nothing of the call is left behind.
    try await store.resume()
    #expect(await store.version == version)
    let result = try await store.undo()
    guard case .done = result else { Issue.record("\(result)"); return }
    try await store.close()
    #expect(await title(in: try await open()) == nil)
  }

  @Test func observersContinue() async throws {
    let store = try await open()
    let changes = await store.changes
    try await store.suspend()
    try await store.resume()
    try await write("Milk", in: store)
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
  }

  @Test func repeatedCallsHaveNoEffect() async throws {
    let store = try await open()
    try await store.resume()
    try await store.suspend()
    try await store.suspend()
    try await store.resume()
    try await store.resume()
    try await write("Milk", in: store)
    try await store.suspend()
    try await store.close()
    try await store.suspend()
    try await store.resume()
    await #expect(throws: StoreError.closed) {
      try await self.write("Tea", in: store)
    }
    #expect(await title(in: store) == "Milk")
    #expect(await title(in: try await open()) == "Milk")
  }

  @Test func storeInMemoryIsNotSuspended() async throws {
    let store = try await ReplicaStore.inMemory(schema: [Note.self])
    try await store.suspend()
    try await write("Milk", in: store)
    try await store.resume()
    #expect(await title(in: store) == "Milk")
  }

  @Test func readerReadsFileOfSuspendedStore() async throws {
    let store = try await open()
    try await write("Milk", in: store)
    try await store.suspend()
    let reader = try await StoreReader(at: path, schema: [Note.self])
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Milk")
    try await store.resume()
    try await write("Tea", in: store)
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Tea")
  }

  @Test func resumingDetectsAnotherWriter() async throws {
    let store = try await open()
    try await write("Milk", in: store)
    try await store.suspend()
    let other = try await open()
    try await write("Tea", in: other)
    await #expect(throws: StoreError.superseded) { try await store.resume() }
    #expect(store.isSuperseded)
    await #expect(throws: StoreError.superseded) {
      try await self.write("Juice", in: store)
    }
    try await write("Water", in: other)
    try await other.close()
    #expect(await title(in: try await open()) == "Water")
  }

  @Test func resumingDetectsReplacedFile() async throws {
    let store = try await open()
    try await write("Milk", in: store)
    try await store.suspend()
    try FileManager.default.moveItem(
      atPath: path, toPath: folder.file("moved.sqlite"))
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await store.resume()
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        == ["moved.sqlite"])
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await self.write("Tea", in: store)
    }
  }

  /// Replaces a text in the file with one of the same length.
  private func replace(_ text: String, with other: String) throws {
    let place = try #require(
      Data(contentsOf: URL(filePath: path)).range(of: Data(text.utf8)))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seek(toOffset: UInt64(place.lowerBound))
    try file.write(contentsOf: Data(other.utf8))
    try file.close()
  }

  @Test(arguments: [
    ("SQLite format 3", "No file of this"),
    ("CREATE TABLE rejoin_scope", "CREATE TABLE rejoin_other"),
  ])
  func resumingCanBeRepeated(text: String, damage: String) async throws {
    let store = try await open()
    try await write("Milk", in: store)
    try await store.suspend()
    try replace(text, with: damage)
    await #expect(throws: StoreError.self) { try await store.resume() }
    await #expect(throws: StoreError.suspended) {
      try await self.write("Tea", in: store)
    }
    #expect(try openFiles() == [:])
    try replace(damage, with: text)
    try await store.resume()
    try await write("Tea", in: store)
    try await store.close()
    #expect(await title(in: try await open()) == "Tea")
  }

  /// Overwrites the file with another one, which keeps its identity.
  private func overwrite(with copy: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(contentsOf: URL(filePath: copy)))
    try file.close()
    for end in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + end)
    }
  }

  @Test(arguments: [false, true])
  func resumingDetectsRestoredContent(afterRecords: Bool) async throws {
    let store = try await open()
    try await write("Milk", in: store)
    let copy = folder.file("copy.sqlite")
    try await store.backup(to: copy)
    try await write("Tea", in: store)
    if afterRecords {
      try await store.save { $0[Note.self, "2"].title = "Rye" }
    }
    try await store.suspend()
    try overwrite(with: copy)
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await store.resume()
    }
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await self.write("Juice", in: store)
    }
    #expect(try openFiles() == [:])
    // A new device continues with the backup.
    let again = try await open(as: 2)
    #expect(await title(in: again) == "Milk")
  }

  /// A backup of an earlier session, whose next writer has the number of this one.
  @Test func resumingDetectsWriterWithEqualNumber() async throws {
    let first = try await open()
    try await write("Milk", in: first)
    let copy = folder.file("copy.sqlite")
    try await first.backup(to: copy)
    try await first.close()
    let store = try await open()
    try await write("Tea", in: store)
    try await store.suspend()
    try overwrite(with: copy)
    let other = try await open(as: 2)
    try await write("Juice", in: other)
    try await other.close()
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await store.resume()
    }
    #expect(await title(in: try await open(as: 3)) == "Juice")
  }

  @Test func movedFileIsClosed() async throws {
    let store = try await open()
    try await write("Milk", in: store)
    try FileManager.default.moveItem(
      atPath: path, toPath: folder.file("moved.sqlite"))
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await store.suspend()
    }
    #expect(try openFiles() == [:])
    try await store.suspend()
    try await store.resume()
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await self.write("Tea", in: store)
    }
  }

  @Test func deletionContinuesAfterSuspension() async throws {
    final class Refusing: TokenStorage, @unchecked Sendable {
      var refuses = true
      private var bytes: [UInt8]?
      func load() -> [UInt8]? { bytes }
      func store(_ bytes: [UInt8]) { self.bytes = bytes }
      func remove() throws {
        if refuses { throw TestTokenStorage.Failure() }
        bytes = nil
      }
    }
    let token = Refusing()
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], token: token)
    try await write("Milk", in: store)
    await #expect(throws: StoreError.self) { try await store.deleteScope() }
    try await store.suspend()
    #expect(try openFiles() == [:])
    token.refuses = false
    try await store.deleteScope()
    #expect(token.load() == nil)
    #expect(try await ReplicaStore.scopes(at: path) == [])
  }

  @Test func storeForReadingStaysOne() async throws {
    let first = try await open()
    try await write("Milk", in: first)
    try await first.close()
    // SQLite follows no link.
    try FileManager.default.createSymbolicLink(
      atPath: path + "-shm", withDestinationPath: "missing")
    let store = try await open()
    try await store.suspend()
    try await store.resume()
    #expect(await store.writeError != nil)
    #expect(await title(in: store) == "Milk")
    try FileManager.default.removeItem(atPath: path + "-shm")
    try await write("Tea", in: store)
    try await store.close()
    #expect(await title(in: try await open()) == "Tea")
  }

  /// The writer of a file is the store that was opened last.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func randomCallsFollowModel(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    var store = try await open()
    var (saved, shown, isSuspended, isWriter) = ("", "", false, true)
    var rival: ReplicaStore?
    for step in 0..<12 {
      switch random.number(below: 6) {
      case 0:
        try await store.suspend()
        isSuspended = true
      case 1:
        let finds = isSuspended && !isWriter
        isSuspended = false
        do {
          try await store.resume()
          #expect(!finds, "seed \(seed), step \(step)")
        } catch {
          #expect(finds && error == .superseded)
        }
      case 2:
        let other = try await open()
        #expect(await title(in: other) ?? "" == saved)
        try await write("\(step)", in: other)
        (saved, isWriter, rival) = ("\(step)", false, other)
      case 3:
        (rival, isWriter, isSuspended) = (nil, true, false)
        store = try await open()
        shown = saved
      default:
        do {
          try await write("\(step)", in: store)
          #expect(isWriter && !isSuspended, "seed \(seed), step \(step)")
          (saved, shown) = ("\(step)", "\(step)")
        } catch {
          #expect(
            error as? StoreError == (isSuspended ? .suspended : .superseded))
          #expect(isSuspended || !isWriter, "seed \(seed), step \(step)")
        }
      }
      #expect(await title(in: store) ?? "" == shown, "seed \(seed)")
    }
    _ = rival
    #expect(await title(in: try await open()) ?? "" == saved, "seed \(seed)")
  }
}
