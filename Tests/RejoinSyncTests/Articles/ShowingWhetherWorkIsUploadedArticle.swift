// SPDX-License-Identifier: Apache-2.0

import Observation
import Rejoin
import RejoinStore
import RejoinSync
import Testing

#if canImport(Darwin)
  import SwiftUI
#else
  // The part of SwiftUI that the article uses.
  @MainActor private protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
  }
  extension Never: View {
    fileprivate var body: Never { fatalError() }
  }
  extension View where Body == Never {
    fileprivate var body: Never { fatalError() }
  }
  extension Optional: View where Wrapped: View {
    fileprivate typealias Body = Never
  }
  extension View {
    fileprivate func task(
      @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }
  }
  private struct Pair<First: View, Second: View>: View {
    typealias Body = Never
  }
  @resultBuilder private struct ViewBuilder {
    static func buildBlock<Content: View>(_ content: Content) -> Content {
      content
    }
    static func buildBlock<First: View, Second: View>(
      _ first: First, _ second: Second
    ) -> Pair<First, Second> { Pair() }
    static func buildIf<Content: View>(_ content: Content?) -> Content? {
      content
    }
  }
  private struct Text: View {
    typealias Body = Never
    init(_ text: String) {}
  }
  private struct HStack<Content: View>: View {
    typealias Body = Never
    init(@ViewBuilder content: () -> Content) {}
  }
  private struct Button: View {
    typealias Body = Never
    init(_ title: String, action: @escaping @MainActor () -> Void) {}
  }
  @propertyWrapper private struct State<Value> {
    var wrappedValue: Value
  }
#endif

@MainActor @Observable
final class SyncModel {
  private(set) var status: SyncStatus?
  @ObservationIgnored private let engine: SyncEngine

  init(_ engine: SyncEngine) { self.engine = engine }

  func follow() async {
    for await statuses in engine.statuses { status = statuses.first }
  }

  func resume() async {
    guard let status else { return }
    await engine.resume(status.route)
    await engine.sync()
  }

  var text: String {
    guard let status else { return "" }
    if status.state == .needsDecision || status.uploadRefusal != nil {
      return "Not synced"
    }
    return switch status.unsentSaves {
    case 0: "Uploaded"
    case 1: "1 change waits"
    case let count: "\(count) changes wait"
    }
  }

  var canResume: Bool {
    status?.state == .needsDecision || status?.uploadRefusal != nil
  }
}

private struct SyncLabel: View {
  @State var model: SyncModel

  var body: some View {
    HStack {
      Text(model.text)
      if model.canResume {
        Button("Try Again") { Task { await model.resume() } }
      }
    }
    .task { await model.follow() }
  }
}

private func message(for status: SyncStatus) -> String? {
  switch status.error ?? status.uploadRefusal {
  case nil: nil
  case SyncRefusal.denied?: "Sign in again, or ask for access."
  case SyncRefusal.gone?: "This list was deleted."
  case SyncRefusal.tooLarge?: "A note is too large. Shorten it."
  case SyncRefusal.full?: "Too many devices use this list."
  case SyncRefusal.unsupportedFormat?: "Update the app."
  case let error as WireError where error.code == .newerVersion:
    "Update the app."
  default: "Not synced. Your changes are kept on this device."
  }
}

@MainActor @Suite
final class ShowingWhetherWorkIsUploadedArticle {
  private let files: ServerFiles
  /// The error of the route, or `nil` if the hub answers.
  private let failure = Locked<(any Error)?>(nil)

  init() throws { files = try ServerFiles() }

  /// A route to a hub that fails as the test wants.
  private func route() async throws -> SyncRoute {
    let (session, failure) = (
      try await files.hub().makeSession { _ in }, failure
    )
    return SyncRoute("server", scope: "s") { request in
      if let error = failure.withLock({ $0 }) { throw error }
      return await session.answer(request)
    }
  }

  /// Waits until the model meets a condition.
  private func until(_ condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func modelShowsThreeStates() async throws {
    let store = try await files.store()
    let engine = SyncEngine(store, routes: [try await route()])
    let model = SyncModel(engine)
    _ = SyncLabel(model: model).body
    let following = Task { await model.follow() }
    try await until { model.text == "Uploaded" }

    failure.withLock { $0 = ServerSuite.Offline() }
    try await store.write("Milk")
    try await until { model.text == "1 change waits" }
    #expect(await engine.sync().map(message) == [message(default: ())])
    try await store.write("Rye")
    try await until { model.text == "2 changes wait" }
    #expect(!model.canResume)

    failure.withLock { $0 = SyncRefusal.denied }
    await engine.sync()
    try await until { model.text == "Not synced" }
    #expect(model.canResume)
    // Neither a save nor a call asks the route again.
    failure.withLock { $0 = nil }
    let statuses = await engine.sync()
    #expect(statuses.map(\.state) == [.needsDecision])
    #expect(statuses.map(message) == ["Sign in again, or ask for access."])

    await model.resume()
    try await until { model.text == "Uploaded" }
    #expect(await engine.sync().map(message) == [nil])
    following.cancel()
  }

  private func message(default: Void) -> String {
    "Not synced. Your changes are kept on this device."
  }

  private func message(_ status: SyncStatus) -> String? {
    RejoinSyncTests.message(for: status)
  }

  @Test func statusIsRightAfterLaunchWithoutNetwork() async throws {
    let route = try await route()
    do {
      let store = try await files.store("phone")
      let engine = SyncEngine(store, routes: [route])
      try await store.write("Milk")
      await engine.sync()
      for i in 0..<3 { try await store.write("\(i)", to: "\(i)") }
      try await store.close()
    }
    failure.withLock { $0 = ServerSuite.Offline() }
    let store = try await files.store("phone")
    let engine = SyncEngine(store, routes: [route])
    for await statuses in engine.statuses {
      #expect(statuses[0].unsentSaves == 3)
      #expect(statuses[0].error == nil && statuses[0].lastSynced != nil)
      break
    }
  }

  @Test func eventsShowWhatMoved() async throws {
    let lines = Locked<[String]>([])
    @Sendable func print(_ line: String) { lines.withLock { $0.append(line) } }
    do {
      let store = try await files.store()
      let engine = SyncEngine(store, routes: [try await route()])
      let logging = Task {
        for await event in engine.events {
          guard let end = event.end else { continue }
          let seconds = Double(end - event.start) / 1_000
          print(
            "\(event.kind) over \(event.route): \(event.records) records, "
              + "\(event.bytes) bytes in \(seconds) s")
        }
      }
      for _ in 0..<100 { await Task.yield() }
      try await store.write("Milk")
      await engine.sync()
      try await until { lines.withLock { $0.count } >= 2 }
      logging.cancel()
    }
    let all = lines.withLock { $0 }
    #expect(all.contains { $0.hasPrefix("setup over server: 0 records") })
    #expect(all.contains { $0.hasPrefix("export over server: 1 records") })
  }
}
