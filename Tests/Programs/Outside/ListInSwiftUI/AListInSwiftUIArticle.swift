// SPDX-License-Identifier: Apache-2.0

import RejoinPolicies
import RejoinSync
import SwiftUI

struct Note: Entity {
  let title = register("title", of: String.self)
}

@main
struct NotesApp: App {
  private static let opening = Task { @MainActor in
    let folder = try FileManager.default.url(
      for: .applicationSupportDirectory, in: .userDomainMask,
      appropriateFor: nil, create: true)
    let store = try await ReplicaStore(
      at: folder.appending(path: "notes.sqlite").path, schema: [Note.self])
    let notebook = Notebook(store, routes: [server])
    Task { await notebook.follow() }
    Task { await notebook.sync() }
    return notebook
  }

  @State private var opened: Result<Notebook, any Error>?

  var body: some Scene {
    WindowGroup {
      switch opened {
      case .success(let notebook): NoteList().environment(notebook)
      case .failure(let error): Text(verbatim: "\(error)")
      case nil: Text("Opening …").task { opened = await Self.opening.result }
      }
    }
  }
}

@MainActor @Observable
final class Notebook {
  let notes: RecordList<Note>
  private(set) var conflicts: [FieldLocation] = []
  private(set) var undoName: String?
  private(set) var redoName: String?
  private(set) var failure: String?
  private(set) var status: SyncStatus?

  @ObservationIgnored private let store: ReplicaStore
  @ObservationIgnored private let engine: SyncEngine
  @ObservationIgnored private var lastRefresh = 0

  init(_ store: ReplicaStore, routes: [SyncRoute] = []) {
    self.store = store
    engine = SyncEngine(store, routes: routes)
    notes = RecordList(store, of: Note.self, sortedBy: \.title)
  }

  func follow() async {
    do {
      for try await _ in await store.changes { await refresh() }
    } catch { failure = "\(error)" }
  }

  private func refresh() async {
    lastRefresh += 1
    let number = lastRefresh
    let conflicts = await store.read { $0.conflictedFields(of: Note.self) }
    let (undo, redo) = (await store.undoName, await store.redoName)
    guard number == lastRefresh else { return }
    (self.conflicts, undoName, redoName) = (conflicts, undo, redo)
  }
}

struct NoteList: View {
  @Environment(Notebook.self) private var notebook
  @State private var edit: NoteEdit?

  var body: some View {
    NavigationStack {
      List {
        if let failure = notebook.failure { Text(failure) }
        statusRow
        conflictRow
        ForEach(notebook.notes.elements) { note in
          Button(note.title ?? "No title") { open(note.id) }
        }
      }
      .toolbar {
        undoButtons
        Button("Add") { open(UUID().uuidString) }
      }
      .sheet(item: $edit) { NoteForm(edit: $0) }
    }
  }

  private func open(_ key: String) {
    Task { edit = await notebook.edit(key) }
  }
}

struct NoteEdit: Identifiable {
  var draft: RecordDraft<Note>
  let titles: [String?]
  var choice: Int? {
    didSet { if let choice { draft.resolve(\.title, with: titles[choice]) } }
  }

  var id: RecordID { draft.id }

  var title: String {
    get { draft.title ?? "" }
    set { draft.title = newValue.isEmpty ? nil : newValue }
  }
}

extension Notebook {
  func edit(_ key: String) async -> NoteEdit {
    let (note, draft) = await store.read {
      ($0[Note.self, key], $0.draft(of: Note.self, key: key))
    }
    let titles = note.map { [$0.title] + $0.conflictingValues(of: \.title) }
    return NoteEdit(draft: draft, titles: titles ?? [])
  }

  func save(_ draft: RecordDraft<Note>) async {
    await perform {
      try await store.commit(draft, under: .merge, undoable: "Edit Note")
    }
  }

  private func perform(_ call: @MainActor () async throws -> Void) async {
    failure = nil
    do { try await call() } catch { failure = "\(error)" }
    await refresh()
  }
}

struct NoteForm: View {
  @Environment(Notebook.self) private var notebook
  @Environment(\.dismiss) private var dismiss
  @State var edit: NoteEdit

  var body: some View {
    Form {
      TextField("Title", text: $edit.title)
      titlePicker
      if let failure = notebook.failure { Text(failure) }
      Button("Save") {
        Task {
          await notebook.save(edit.draft)
          if notebook.failure == nil { dismiss() }
        }
      }
      .disabled(!edit.draft.hasChanges)
      Button("Cancel") { dismiss() }
    }
  }
}

extension NoteList {
  @ViewBuilder private var conflictRow: some View {
    if let first = notebook.conflicts.first {
      Button("Conflicts") { open(first.record.key) }
        .badge(notebook.conflicts.count)
    }
  }
}

extension NoteForm {
  @ViewBuilder private var titlePicker: some View {
    if edit.titles.count > 1 {
      Picker("Titles in conflict", selection: $edit.choice) {
        if edit.choice == nil { Text("Choose").tag(Int?.none) }
        ForEach(edit.titles.indices, id: \.self) { index in
          Text(edit.titles[index] ?? "No title").tag(Int?.some(index))
        }
      }
    }
  }
}

extension Notebook {
  func undo() async {
    await perform {
      try await store.withReplica {
        if case .prevented = try $0.undo() { $0.undoHistory.discardUndo() }
      }
    }
  }

  func redo() async {
    await perform {
      try await store.withReplica {
        if case .prevented = try $0.redo() { $0.undoHistory.discardRedo() }
      }
    }
  }
}

extension NoteList {
  @ViewBuilder private var undoButtons: some View {
    Button("Undo \(notebook.undoName ?? "")") {
      Task { await notebook.undo() }
    }
    .disabled(notebook.undoName == nil)
    Button("Redo \(notebook.redoName ?? "")") {
      Task { await notebook.redo() }
    }
    .disabled(notebook.redoName == nil)
  }
}

let server = SyncRoute.http(
  "server", scope: "notes", url: URL(string: "http://127.0.0.1:8080/")!)

extension Notebook {
  func sync() async {
    await engine.start()
    Task { await engine.sync() }
    for await statuses in engine.statuses { status = statuses.first }
  }
}

extension NoteList {
  @ViewBuilder private var statusRow: some View {
    if let status = notebook.status {
      Text(status.isUploaded ? "Uploaded" : "\(status.unsentSaves) to upload")
    }
  }
}
