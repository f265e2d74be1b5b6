// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Readers of a file that is read without locks.
///
/// The index of the log cannot be created, as in a folder that cannot be written.
@Suite final class UnlockedSnapshotTests: StoreSuite {
  /// A store starts to write before one of the calls in a body.
  @Test(arguments: [false, true], 0..<4)
  func changedFileIsReadAgain(isClosed: Bool, call: Int) async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    try await store.save { $0[Note.self, "1"].views.increment(by: 1) }
    try await store.save { $0[Note.self, "2"].views.increment(by: 1) }
    try await store.close()
    let (path, index) = (path, path + "-shm")
    // SQLite follows no link.
    try FileManager.default.createSymbolicLink(
      atPath: index, withDestinationPath: "missing")
    let reader = try await StoreReader(at: path, schema: [Note.self])
    #expect(try await reader.read { $0[Note.self, "1"]?.views } == 1)
    let runs = Counter()
    let views = try await reader.read { view -> [Int64?] in
      let isFirst = runs.next() == 1
      return try ["1", "2", "2", "1"].enumerated().map { i, key in
        if isFirst, i == call {
          try FileManager.default.removeItem(atPath: index)
          let store = try open(path, token: TokenFile(beside: path))
          try store.update { replica in
            try replica.save { transaction in
              for key in ["1", "2"] {
                transaction[Note.self, key].views.increment(by: 1)
              }
            }
          }
          if isClosed { try store.close() } else { runs.keep(store) }
        }
        return view[Note.self, key]?.views
      }
    }
    #expect(views == [2, 2, 2, 2])
    #expect(runs.next() == 3)
  }

  /// The content of a file with a log or a journal is incomplete.
  @Test(arguments: ["-wal", "-journal"])
  func fileWithLogIsNotReadWithoutLocks(end: String) async throws {
    let store = try open(path, token: TokenFile(beside: path))
    try store.write("Milk")
    try folder.copy("notes.sqlite", to: "copy.sqlite")
    let copy = folder.file("copy.sqlite")
    if end == "-journal" {
      try SQLiteConnection(opening: copy).run("PRAGMA wal_checkpoint(TRUNCATE)")
      for end in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: copy + end)
      }
      try Data([1]).write(to: URL(filePath: copy + end))
    }
    // SQLite follows no link.
    try FileManager.default.createSymbolicLink(
      atPath: copy + "-shm", withDestinationPath: "missing")
    let link = folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: copy)
    for path in [copy, link] {
      let error = await #expect(throws: StoreError.self) {
        try await StoreReader(at: path, schema: [Note.self])
      }
      if end == "-journal" {
        #expect(error == .notCreated(path: path, scope: "main"))
      } else if case .cannotOpen = error {
      } else {
        Issue.record("\(path): \(String(describing: error))")
      }
    }
  }

  /// A file that is moved away keeps its log, which belongs to it.
  @Test func lateWriterCreatesNoFile() async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.close()
    // SQLite follows no link.
    try FileManager.default.createSymbolicLink(
      atPath: path + "-shm", withDestinationPath: "missing")
    let late = try await ReplicaStore(at: path, schema: [Note.self])
    #expect(await late.writeError != nil)
    try FileManager.default.removeItem(atPath: path + "-shm")
    try FileManager.default.removeItem(atPath: path)
    try Data([1]).write(to: URL(filePath: path + "-wal"))
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await late.save { $0[Note.self, "1"].title = "Bread" }
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
  }

  private final class Counter: @unchecked Sendable {
    // Each test uses its counter on one thread at a time.
    private var count = 0
    private var kept: [StoredScope] = []

    func next() -> Int {
      count += 1
      return count
    }

    func keep(_ scope: StoredScope) { kept.append(scope) }
  }

  /// The time of the file changes in each body.
  @Test func fileThatAlwaysChangesIsBusy() async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.close()
    // SQLite follows no link.
    try FileManager.default.createSymbolicLink(
      atPath: path + "-shm", withDestinationPath: "missing")
    let (runs, path) = (Counter(), path)
    let reader = try await StoreReader(at: path, schema: [Note.self])
    let error = await #expect(throws: StoreError.self) {
      try await reader.read { _ in
        let time = Date(timeIntervalSince1970: Double(runs.next()))
        try FileManager.default.setAttributes(
          [.modificationDate: time], ofItemAtPath: path)
      }
    }
    guard case .busy = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(runs.next() == 6)
  }

  @Test func errorOfBodyIsNotRepeated() async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    let (runs, reader) = (Counter(), try await store.reader())
    let error = StoreError.cannotOpen(SQLError(.readOnly, "another file"))
    await #expect(throws: error) {
      try await reader.read { _ in
        _ = runs.next()
        throw error
      }
    }
    #expect(runs.next() == 2)
  }
}
