// SPDX-License-Identifier: Apache-2.0

import Observation
import RejoinPolicies
import RejoinSync
import Testing

@testable import ListInSwiftUI

/// The model of the article, and the code in the article.
@MainActor
struct NotebookTests {
  private let store: ReplicaStore
  private let other: ReplicaStore
  private let notebook: Notebook

  init() async throws {
    (store, other) = (try await Self.openStore(), try await Self.openStore())
    notebook = Notebook(store)
  }

  private static func openStore() async throws -> ReplicaStore {
    try await .inMemory(schema: [Note.self])
  }

  @Test func listShowsSavesAndDeltas() async throws {
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let following = follow()
    await until { titles == ["Milk"] }

    try await store.save { $0[Note.self, "2"].title = "Bread" }
    await until { titles == ["Bread", "Milk"] }

    try await other.save { $0[Note.self, "3"].title = "Cheese" }
    try await sync(from: other, to: store)
    await until { titles == ["Bread", "Cheese", "Milk"] }

    try await store.save { $0[Note.self, "1"].delete() }
    await until { titles == ["Bread", "Cheese"] }
    #expect(notebook.failure == nil)

    try await store.close()
    await following.value
    #expect(notebook.failure == "\(StoreError.closed)")
    await until { notebook.notes.failure == .closed }
  }

  @Test func formAddsAndEditsNotes() async throws {
    let following = follow()
    var edit = await notebook.edit("1")
    #expect(edit.title == "")
    #expect(edit.titles.isEmpty)
    edit.title = ""
    #expect(!edit.draft.hasChanges)
    edit.title = "Milk"
    #expect(edit.draft.hasChanges)
    await notebook.save(edit.draft)
    await until { titles == ["Milk"] }

    edit = await notebook.edit("1")
    edit.title = edit.title
    #expect(!edit.draft.hasChanges)
    edit.title = ""
    await notebook.save(edit.draft)
    await until { titles == [nil] }
    #expect(notebook.failure == nil)
    following.cancel()
  }

  @Test(arguments: [0, 1])
  func conflictReachesBadgeAndIsResolved(_ choice: Int) async throws {
    let following = follow()
    try await makeConflict()
    await until { notebook.conflicts.count == 1 }
    #expect(notebook.conflicts.first?.record.key == "1")

    var edit = await notebook.edit("1")
    #expect(Set(edit.titles) == ["Oat milk", "Soy milk"])
    await until { titles == [edit.titles[0]] }
    edit.choice = choice
    #expect(edit.title == edit.titles[choice])
    #expect(edit.draft.hasChanges)
    await notebook.save(edit.draft)
    await until { notebook.conflicts.isEmpty }
    await until { titles == [edit.titles[choice]] }

    try await sync(from: store, to: other)
    let note = await other.read { $0[Note.self, "1"] }
    #expect(note?.title == edit.titles[choice])
    #expect(note?.conflictingValues(of: \.title) == [])
    following.cancel()
  }

  @Test func titleReceivedWhileFormIsOpenConflicts() async throws {
    let following = follow()
    var edit = await notebook.edit("1")
    edit.title = "Oat milk"
    try await other.save { $0[Note.self, "1"].title = "Soy milk" }
    try await sync(from: other, to: store)
    await notebook.save(edit.draft)
    await until { notebook.conflicts.count == 1 }
    let titles = await notebook.edit("1").titles
    #expect(Set(titles) == ["Oat milk", "Soy milk"])
    following.cancel()
  }

  @Test func undoAndRedoChangeList() async throws {
    let following = follow()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    await until { titles == ["Milk"] }
    #expect(notebook.undoName == nil)

    var edit = await notebook.edit("1")
    edit.title = "Oat milk"
    await notebook.save(edit.draft)
    await until { titles == ["Oat milk"] && notebook.undoName == "Edit Note" }

    await notebook.undo()
    await until { titles == ["Milk"] && notebook.redoName == "Edit Note" }
    #expect(notebook.undoName == nil)

    await notebook.redo()
    await until { titles == ["Oat milk"] && notebook.undoName == "Edit Note" }
    #expect(notebook.redoName == nil)
    following.cancel()
  }

  @Test func preventedUndoAndRedoAreSkipped() async throws {
    let following = follow()
    var edit = await notebook.edit("1")
    edit.title = "Milk"
    await notebook.save(edit.draft)
    try await store.save { $0[Note.self, "1"].title = "Oat milk" }
    await until { titles == ["Oat milk"] && notebook.undoName == "Edit Note" }
    await notebook.undo()
    await until { notebook.undoName == nil }
    #expect(titles == ["Oat milk"])

    edit = await notebook.edit("1")
    edit.title = "Soy milk"
    await notebook.save(edit.draft)
    await notebook.undo()
    try await store.save { $0[Note.self, "1"].title = "Rice milk" }
    await until {
      titles == ["Rice milk"] && notebook.redoName == "Edit Note"
    }
    await notebook.redo()
    await until { notebook.redoName == nil }
    #expect(titles == ["Rice milk"])
    following.cancel()
  }

  @Test func failedSaveShowsError() async throws {
    var edit = await notebook.edit("1")
    edit.title = "Milk"
    try await store.close()
    await notebook.save(edit.draft)
    #expect(notebook.failure == "\(StoreError.closed)")
  }

  @Test func notebookSyncsWithServer() async throws {
    let (store, other) = (try await Self.openStore(), other)
    let route = SyncRoute("server", scope: "notes") { request in
      await other.answer(request, scope: "notes")
    }
    try await other.save { $0[Note.self, "1"].title = "Milk" }
    try await store.save { $0[Note.self, "2"].title = "Bread" }
    let notebook = Notebook(store, routes: [route])
    let syncing = Task { await notebook.sync() }
    await until { notebook.status?.isUploaded == true }
    await until {
      notebook.notes.elements.map(\.title) == ["Bread", "Milk"]
    }
    #expect(await other.read { $0[Note.self, "2"]?.title } == "Bread")
    syncing.cancel()
  }

  @Test func articleEqualsSourceOfApp() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    let article = try text(
      "Sources/RejoinStore/RejoinStore.docc/AListInSwiftUI.md")
    let blocks = article.components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```\n")[0] }
    let code = blocks.joined(separator: "\n")
    let source = try text(
      "Tests/Programs/Outside/ListInSwiftUI/AListInSwiftUIArticle.swift")
    #expect(source == "// SPDX-License-Identifier: Apache-2.0\n\n" + code)
    let lines = code.split(separator: "\n")
    #expect(lines.count < 200)
  }

  private var titles: [String?] { notebook.notes.elements.map(\.title) }

  private func follow() -> Task<Void, Never> {
    Task { [notebook] in await notebook.follow() }
  }

  /// Writes two concurrent titles of one note.
  private func makeConflict() async throws {
    try await store.save { $0[Note.self, "1"].title = "Oat milk" }
    try await other.save { $0[Note.self, "1"].title = "Soy milk" }
    try await sync(from: other, to: store)
  }

  private func sync(
    from sender: ReplicaStore, to receiver: ReplicaStore
  ) async throws {
    let version = await receiver.version
    guard let delta = try await sender.delta(since: version) else { return }
    try await receiver.apply(decoding: delta.encoded())
  }

  /// Waits without polling until the model meets a condition.
  ///
  /// If the time limit cancels the test, the wait ends.
  private func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled {
      let (changes, signal) = AsyncStream.makeStream(of: Void.self)
      withObservationTracking {
        _ = condition()
      } onChange: {
        signal.finish()
      }
      for await _ in changes {}
    }
  }
}
