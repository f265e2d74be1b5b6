// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

/// Undo and redo in a store, across launches.
@Suite final class UndoTests: StoreSuite {
  private func store(
    as device: UInt64 = 1
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: ManualClock().wallClock,
      token: tokenStorage, makeDeviceID: { DeviceID(device) })
  }

  private func title(_ store: ReplicaStore) async -> String? {
    await store.read { $0[Note.self, "1"]?.title }
  }

  private func rename(
    _ title: String, in store: ReplicaStore
  ) async throws {
    try await store.save(undoable: "Rename to \(title)") {
      $0[Note.self, "1"].title = title
    }
  }

  @Test func stepsSurviveRelaunch() async throws {
    let first = try await store()
    for title in ["Milk", "Bread", "Cheese"] {
      try await rename(title, in: first)
    }
    try await first.undo()
    try await first.close()
    let second = try await store(as: 2)
    #expect(await second.undoName == "Rename to Bread")
    #expect(await second.redoName == "Rename to Cheese")
    try await second.redo()
    #expect(await title(second) == "Cheese")
    for expected in ["Bread", "Milk", nil] {
      try await second.undo()
      #expect(await title(second) == expected)
    }
    #expect(try await second.undo() == .nothing)
    try await second.close()
    let third = try await store(as: 3)
    for expected in ["Milk", "Bread", "Cheese"] {
      try await third.redo()
      #expect(await title(third) == expected)
    }
    #expect(try await third.redo() == .nothing)
  }

  @Test func saveWithoutNameIsNotUndone() async throws {
    let store = try await store()
    try await rename("Milk", in: store)
    try await store.save { $0[Note.self, "2"].title = "Bread" }
    try await store.undo()
    #expect(await title(store) == nil)
    #expect(await store.read { $0[Note.self, "2"]?.title } == "Bread")
  }

  @Test func undoableSaveRemovesRedo() async throws {
    let store = try await store()
    try await rename("Milk", in: store)
    try await store.undo()
    try await rename("Bread", in: store)
    #expect(await store.redoName == nil)
    try await store.close()
    #expect(try await self.store(as: 2).redoName == nil)
  }

  @Test func preventedUndoStays() async throws {
    let store = try await store()
    try await rename("Milk", in: store)
    try await rename("Bread", in: store)
    let later = try await store.withReplica { replica in
      let other = replica.fork(as: DeviceID(8))
      try other.save { $0[Note.self, "1"].title = "Ham" }
      return other.delta(since: replica.version)
    }
    try await store.apply(#require(later))
    let field = FieldLocation(
      record: RecordID("Note", "1"), field: FieldKey("title", .register))
    for _ in 0..<2 {
      #expect(try await store.undo() == .prevented([field]))
      #expect(await store.undoName == "Rename to Bread")
      #expect(await store.redoName == nil)
    }
    #expect(await title(store) == "Ham")
    try await store.discardUndo()
    #expect(await store.undoName == "Rename to Milk")
    try await store.close()
    #expect(try await self.store(as: 2).undoName == "Rename to Milk")
  }

  @Test func historyKeepsLastSteps() async throws {
    let store = try await store()
    for i in 1...(UndoHistory.limit + 5) {
      try await rename("title \(i)", in: store)
    }
    try await store.close()
    let again = try await self.store(as: 2)
    for _ in 0..<UndoHistory.limit {
      guard case .done(let report) = try await again.undo() else { break }
      #expect(report.unrevertedFields.isEmpty)
    }
    #expect(await title(again) == "title 5")
    #expect(try await again.undo() == .nothing)
    // A redone save counts again.
    for _ in 0..<UndoHistory.limit { try await again.redo() }
    #expect(await title(again) == "title \(UndoHistory.limit + 5)")
    let rows = try SQLiteConnection(opening: path).integer(
      "SELECT count(*) FROM rejoin_undo")
    #expect(rows == Int64(UndoHistory.limit))
  }

  @Test func failedSaveKeepsHistory() throws {
    let connection = try SQLiteConnection(opening: path)
    let scope = try StoredScope(
      "main", on: connection, schema: [Note.self],
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
    func rename(_ title: String) throws {
      try scope.update { replica in
        try replica.save(undoable: title) { $0[Note.self, "1"].title = title }
      }
    }
    try rename("Milk")
    let before = scope.replica.undoHistory
    #expect(throws: Refused.self) {
      try scope.update { replica in
        try replica.undo()
        throw Refused()
      }
    }
    #expect(scope.replica.undoHistory == before && scope.title == "Milk")
    let used = try #require(try connection.integer("PRAGMA page_count"))
    try connection.run("PRAGMA max_page_count = \(used)")
    #expect(throws: StoreError.self) {
      try rename(String(repeating: "long ", count: 5000))
    }
    #expect(scope.replica.undoHistory == before && scope.title == "Milk")
    try connection.run("PRAGMA max_page_count = 100000")
    try rename("Bread")
    try scope.update { _ = try $0.undo() }
    try scope.update { _ = try $0.undo() }
    #expect(scope.title == nil)
  }

  @Test func preventedRedoIsDiscarded() async throws {
    let store = try await store()
    for title in ["Milk", "Bread"] { try await rename(title, in: store) }
    try await store.undo()
    try await store.undo()
    let later = try await store.withReplica { replica in
      let other = replica.fork(as: DeviceID(8))
      try other.save { $0[Note.self, "1"].title = "Ham" }
      return other.delta(since: replica.version)
    }
    try await store.apply(#require(later))
    guard case .prevented = try await store.redo() else {
      Issue.record("the redo is not prevented")
      return
    }
    #expect(await store.redoName == "Rename to Milk")
    try await store.discardRedo()
    #expect(await store.redoName == "Rename to Bread")
    try await store.close()
    #expect(try await self.store(as: 2).redoName == "Rename to Bread")
  }

  /// The app sets an earlier history, but the rows stay in the order of the
  /// saves.
  @Test func assignedHistoryKeepsOrder() async throws {
    let store = try await store()
    for title in ["Milk", "Bread", "Cheese"] {
      try await rename(title, in: store)
    }
    let history = try await store.withReplica { $0.undoHistory }
    try await store.undo()
    try await store.undo()
    try await store.withReplica { $0.undoHistory = history }
    try await store.close()
    let again = try await self.store(as: 2)
    #expect(await again.undoName == "Rename to Cheese")
    #expect(
      try await again.withReplica { $0.undoHistory } == history)
  }

  /// A step that moves to the other stack gets a row there.
  @Test func movedStepIsWritten() async throws {
    let store = try await store()
    for title in ["Milk", "Bread"] { try await rename(title, in: store) }
    try await store.undo()
    let moved = try await store.withReplica { replica in
      let history = replica.undoHistory
      replica.undoHistory = UndoHistory(
        done: history.done.saves + history.undone.saves, undone: [])
      return replica.undoHistory
    }
    try await store.close()
    let again = try await self.store(as: 2)
    #expect(try await again.withReplica { $0.undoHistory } == moved)
  }

  @Test func fileOfEarlierVersionGetsHistory() async throws {
    let first = try await store()
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    try await first.close()
    let connection = try SQLiteConnection(opening: path)
    try connection.run("DROP TABLE rejoin_undo")
    connection.close()
    let second = try await store(as: 2)
    #expect(await title(second) == "Milk")
    try await rename("Bread", in: second)
    try await second.undo()
    #expect(await title(second) == "Milk")
  }

  @Test func scopesHaveTheirOwnHistories() throws {
    let (a, b) = (
      try open(path, scope: "a", as: 1), try open(path, scope: "b", as: 2)
    )
    for (scope, name) in [(a, "a"), (b, "b")] {
      try scope.update { replica in
        try replica.save(undoable: name) { $0[Note.self, "1"].title = name }
      }
    }
    try a.update { _ = try $0.undo() }
    #expect(a.title == nil && b.title == "b")
    let again = try open(path, scope: "b", as: 3)
    #expect(again.replica.undoHistory.undoName == "b")
  }

  @Test func backupHasItsHistory() async throws {
    let store = try await store()
    try await rename("Milk", in: store)
    let copy = folder.file("copy.sqlite")
    try await store.backup(to: copy)
    try await rename("Bread", in: store)
    let restored = try await ReplicaStore(
      at: copy, schema: [Note.self], wallClock: ManualClock().wallClock,
      token: tokenStorage, makeDeviceID: { DeviceID(9) })
    #expect(await restored.undoName == "Rename to Milk")
    try await restored.undo()
    #expect(await title(restored) == nil)
  }
}

/// Views, and exports of a store.
@Suite final class ExportTests: StoreSuite {
  @Test func deltaInWithReplicaStoresToken() async throws {
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: ManualClock().wallClock,
      token: tokenStorage, makeDeviceID: { DeviceID(1) })
    let token = try #require(tokenStorage.bytes)
    try await store.withReplica { replica in
      _ = try replica.save { $0[Note.self, "1"].title = "Milk" }
    }
    #expect(tokenStorage.bytes == token)
    try folder.copy("notes.sqlite", to: "backup.sqlite")
    let delta = try await store.withReplica { replica in
      _ = try replica.save { $0[Note.self, "1"].title = "Bread" }
      return replica.delta()
    }
    #expect(delta != nil && tokenStorage.bytes != token)
    // The backup lacks a save that was sent.
    let restored = try await ReplicaStore(
      at: folder.file("backup.sqlite"), schema: [Note.self],
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(2) })
    #expect(await restored.deviceChange?.old == DeviceID(1))
  }

  @Test(arguments: ["state", "fork", "delta", "parts"])
  func everyExportStoresToken(_ export: String) throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    let token = tokenStorage.bytes
    try store.update { replica in
      switch export {
      case "state": _ = replica.state
      case "fork": _ = replica.fork(as: DeviceID(7))
      case "delta": _ = replica.delta()
      default: _ = replica.delta(since: ReplicaVersion(), byteLimit: 100)
      }
    }
    #expect(tokenStorage.bytes != token)
  }

  @Test func failedTokenWithholdsDelta() throws {
    let store = try open(path, token: tokenStorage)
    tokenStorage.fails = true
    let error = #expect(throws: StoreError.self) {
      try store.update { replica in
        _ = try replica.save { $0[Note.self, "1"].title = "Milk" }
        return replica.delta()
      }
    }
    guard case .tokenNotStored = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // The save is durable.
    #expect(store.title == "Milk")
    #expect(try open(path, token: TestTokenStorage(), as: 2).title == "Milk")
  }

  @Test func deltaBeforeErrorStoresToken() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    let token = tokenStorage.bytes
    #expect(throws: Refused.self) {
      try store.update { replica in
        _ = replica.delta()
        throw Refused()
      }
    }
    #expect(tokenStorage.bytes != token && store.title == "Milk")
  }

  @Test func changingInExportTraps() async throws {
    let process = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try open(":memory:")
      try store.export { replica in
        _ = try replica.save { $0[Note.self, "1"].title = "Milk" }
      }
    }
    let error = String(
      decoding: try #require(process).standardErrorContent, as: UTF8.self)
    #expect(error.contains("`export` must not change the replica"))
  }

  @Test func exportedVersionMatchesDelta() async throws {
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: ManualClock().wallClock,
      token: tokenStorage, makeDeviceID: { DeviceID(1) })
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let (version, delta) = try await store.export { replica in
      (replica.version, replica.delta(since: ReplicaVersion()))
    }
    #expect(
      delta?.intervals.mapValues(\.to.sequence) == [DeviceID(1): 1]
        && version.vectorClock == [DeviceID(1): 1])
    let read = await store.read { view in
      (view.version, view.latestMissingSaves, view.records(of: Note.self))
    }
    #expect(read.0 == version && read.1.isEmpty)
    #expect(read.2.map(\.title) == ["Milk"])
  }
}
