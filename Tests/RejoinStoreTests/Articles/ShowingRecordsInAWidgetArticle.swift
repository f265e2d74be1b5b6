// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import Testing

/// The lines of the article *Showing records in a widget*.
@Suite final class ShowingRecordsInAWidgetArticle: StoreSuite {
  #if canImport(Darwin)
    func notesPath() -> String {
      guard
        let folder = FileManager.default.containerURL(
          forSecurityApplicationGroupIdentifier: "group.example.notes")
      else { preconditionFailure("Add the App Group to the entitlements.") }
      return folder.appending(path: "notes.sqlite").path
    }
  #endif

  struct Entry {
    var titles: [String] = []
    var count = 0
  }

  func entry(at path: String) async throws -> Entry {
    let reader: StoreReader
    do {
      reader = try await StoreReader(at: path, schema: [Note.self])
    } catch StoreError.notCreated {
      return Entry()  // before the first launch of the app
    }
    return try await reader.read { view in
      Entry(
        titles: view.records(of: Note.self, limit: 3).compactMap(\.title),
        count: view.recordCount(of: Note.self))
    }
  }

  @Test func article() async throws {
    #expect(try await entry(at: path).count == 0)
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    try await store.save { transaction in
      for title in ["Bread", "Eggs", "Milk", "Salt"] {
        transaction[Note.self, title].title = title
      }
    }
    let entry = try await entry(at: path)
    #expect(entry.titles == ["Bread", "Eggs", "Milk"])
    #expect(entry.count == 4)
    try await suspendAndResume(store)
    try await store.save { $0[Note.self, "Tea"].title = "Tea" }
  }

  private func suspendAndResume(_ store: ReplicaStore) async throws {
    try await store.suspend()
    let title = await store.read { $0[Note.self, "Milk"]?.title }  // "Milk"
    #expect(try await self.entry(at: path).count == 4)
    try await store.resume()
    #expect(title == "Milk")
  }
}
