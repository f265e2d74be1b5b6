// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore
import Testing

@testable import RejoinSync

#if canImport(Darwin)
  import Network
#endif
#if os(iOS)
  @preconcurrency import BackgroundTasks
  import UIKit
#endif

private typealias Note = ServerSuite.Note

/// The file and the server of the app, which the test chooses.
private let place = Locked<(path: String, url: URL)?>(nil)
private func notesPath() -> String { place.withLock { $0?.path ?? "" } }
private var serverURL: URL {
  place.withLock { $0?.url ?? URL(filePath: "/") }
}

private func userIsSignedIn() -> Bool { true }

@MainActor
private final class Sync {
  static let shared = Sync()

  private var opening:
    Task<(store: ReplicaStore, engine: SyncEngine), any Error>?

  func opened() async throws -> (store: ReplicaStore, engine: SyncEngine) {
    guard userIsSignedIn() else { throw CancellationError() }
    let task =
      opening
      ?? Task {
        let store = try await ReplicaStore(at: notesPath(), schema: [Note.self])
        let engine = SyncEngine(
          store, routes: [.http("server", scope: "notes", url: serverURL)])
        await engine.start()
        return (store, engine)
      }
    opening = task
    do { return try await task.value } catch {
      // Until the user unlocks the phone after a restart, the file is protected.
      if opening == task { opening = nil }
      throw error
    }
  }

  /// Releases the store and the engine, after a sign-out.
  func close() { opening = nil }

  /// Performs a pass, and returns whether it sent and received everything.
  @discardableResult
  func sync() async -> Bool {
    guard let (_, engine) = try? await opened() else { return false }
    return await engine.sync().allSatisfy { $0.isUploaded && $0.error == nil }
  }
}

private func observeNetwork() -> NWPathMonitor {
  let monitor = NWPathMonitor()
  monitor.pathUpdateHandler = { path in
    if path.status == .satisfied { Task { await Sync.shared.sync() } }
  }
  monitor.start(queue: .main)
  return monitor
}

private final class AppDelegate: NSObject, UIApplicationDelegate {
  func application(
    _ application: UIApplication,
    didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    let (results, result) = AsyncStream.makeStream(
      of: UIBackgroundFetchResult.self)
    let work = Task {
      result.yield(await Sync.shared.sync() ? .newData : .failed)
    }
    let limit = Task {
      try await Task.sleep(for: .seconds(25))
      result.yield(.failed)
    }
    defer {
      work.cancel()
      limit.cancel()
    }
    for await first in results { return first }
    return .failed
  }
}

private let refreshID = "example.notes.refresh"

@MainActor private func registerRefresh() {
  BGTaskScheduler.shared.register(
    forTaskWithIdentifier: refreshID, using: .main
  ) { task in
    scheduleRefresh()
    let work = Task {
      let isUploaded = await Sync.shared.sync()
      if !Task.isCancelled { task.setTaskCompleted(success: isUploaded) }
    }
    task.expirationHandler = { @Sendable in
      work.cancel()
      task.setTaskCompleted(success: false)
    }
  }
}

private func scheduleRefresh() {
  let request = BGAppRefreshTaskRequest(identifier: refreshID)
  request.earliestBeginDate = Date(timeIntervalSinceNow: 3_600)
  try? BGTaskScheduler.shared.submit(request)
}

@MainActor
private final class LastUpload {
  private var id = UIBackgroundTaskIdentifier.invalid
  private var work: Task<Void, Never>?

  func start(in application: UIApplication) {
    end(in: application)
    work = Task {
      _ = await Sync.shared.sync()
      if !Task.isCancelled { end(in: application) }
    }
    id = application.beginBackgroundTask { self.end(in: application) }
  }

  private func end(in application: UIApplication) {
    work?.cancel()
    if id != .invalid { application.endBackgroundTask(id) }
    (work, id) = (nil, .invalid)
  }
}

private func share(_ text: String, to inbox: URL) throws {
  try FileManager.default.createDirectory(
    at: inbox, withIntermediateDirectories: true)
  let file = inbox.appending(path: UUID().uuidString)
  try Data(text.utf8).write(to: file, options: .atomic)
}

private func importInbox(
  _ inbox: URL, into store: ReplicaStore
) async throws {
  let files = try? FileManager.default.contentsOfDirectory(
    at: inbox, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
  for file in files ?? [] {
    let key = file.lastPathComponent
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    try await store.withReplica { replica in
      if replica.record(RecordID("Note", key)) != nil { return }
      try replica.save { $0[Note.self, key].title = text }
    }
    try FileManager.default.removeItem(at: file)
  }
}

@MainActor @Suite(.serialized) final class SyncingInTheBackgroundArticle {
  private let files: ServerFiles

  init() throws { files = try ServerFiles() }

  #if !canImport(Darwin)
    /// The process has one engine, so this is one test.
    @Test func appSyncsWhenSystemCalls() async throws {
      let session = try await files.hub().makeSession { _ in }
      let isHeld = Locked(false)
      let url = try files.serve { request in
        while isHeld.withLock({ $0 }) {
          try? await Task.sleep(for: .milliseconds(5))
        }
        return await session.answer(request)
      }
      let path = files.path("notes.sqlite")
      place.withLock { $0 = (path, url) }
      let other = try await files.openStore()
      try await other.save { $0[Note.self, "1"].title = "Milk" }
      try await other.sync(scope: "notes") { await session.answer($0) }

      // A push message.
      let (application, delegate) = (UIApplication(), AppDelegate())
      let result = await delegate.application(
        application, didReceiveRemoteNotification: [:])
      #expect(result == .newData)
      let (store, engine) = try await Sync.shared.opened()
      #expect(await store.noteTitles == ["Milk"])

      // A refresh that ends, and one that expires.
      registerRefresh()
      let task = BGTaskScheduler.shared.launch(refreshID)
      while task.completions.isEmpty { await Task.yield() }
      #expect(task.completions == [true])
      isHeld.withLock { $0 = true }
      try await store.save { $0[Note.self, "2"].title = "Rye" }
      let late = BGTaskScheduler.shared.launch(refreshID)
      while await !engine.isPassing { await Task.yield() }
      late.expirationHandler?()
      #expect(late.completions == [false])
      isHeld.withLock { $0 = false }
      #expect(await Sync.shared.sync())
      #expect(late.completions == [false])
      #expect(BGTaskScheduler.shared.submitted == [refreshID, refreshID])

      // The last upload, which expires the first time.
      let upload = LastUpload()
      isHeld.withLock { $0 = true }
      try await store.save { $0[Note.self, "2"].title = "Rice" }
      upload.start(in: application)
      while await !engine.isPassing { await Task.yield() }
      application.tasks.values.first?()
      #expect(application.tasks.isEmpty)
      isHeld.withLock { $0 = false }
      upload.start(in: application)
      while !application.tasks.isEmpty { await Task.yield() }
      let version = try await session.version(of: "notes")
      #expect(version.covers(await store.version))

      // The network returns.
      let monitor = observeNetwork()
      try await other.save { $0[Note.self, "3"].title = "Salt" }
      try await other.sync(scope: "notes") { await session.answer($0) }
      monitor.pathUpdateHandler?(.init(status: .satisfied))
      while await store.noteTitles.count < 3 {
        try await Task.sleep(for: .milliseconds(5))
      }
      await engine.stop()
    }
  #endif

  @Test func inboxIsImportedOnce() async throws {
    let store = try await files.openStore()
    let inbox = files.folder.appending(path: "inbox")
    try await importInbox(inbox, into: store)
    try share("Milk", to: inbox)
    try share("Rye", to: inbox)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: inbox.path)
    // A file that is being written.
    try Data("half".utf8).write(to: inbox.appending(path: ".dat"))
    try await importInbox(inbox, into: store)
    #expect(
      await store.noteTitles.compactMap { $0 }.sorted() == ["Milk", "Rye"])
    let left = try FileManager.default.contentsOfDirectory(
      atPath: inbox.path)
    #expect(left == [".dat"])

    // The app was killed before it removed the files, and the user made edits.
    let version = await store.version
    for name in names {
      try Data("Milk".utf8).write(to: inbox.appending(path: name))
    }
    try await importInbox(inbox, into: store)
    #expect(await store.version == version)
    try await store.save { $0[Note.self, names[0]].title = "Oat milk" }
    try await store.save { $0[Note.self, names[1]].delete() }
    for name in names {
      try Data("Milk".utf8).write(to: inbox.appending(path: name))
    }
    try await importInbox(inbox, into: store)
    #expect(await store.noteTitles == ["Oat milk"])
  }
}
