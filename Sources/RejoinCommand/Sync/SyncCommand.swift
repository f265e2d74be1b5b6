// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore
import RejoinSync
import RejoinTesting

/// `rejoin sync` syncs a store with a hub, another store or a folder.
struct SyncCommand {
  static let command = Command(
    name: "sync",
    purpose: "sync a store on SQLite once with a peer",
    usage: "FILE ROUTE [--scope NAME] [--as NAME]",
    discussion: """
      FILE is the file of a store. ROUTE is a URL that answers requests in a POST,
      an existing folder in which devices leave saves for each other, or a command
      that answers requests on standard output, each after its length, such as
      `rejoin serve --stdio`. A URL starts with http:// or https://. The command
      prints what it sent and received. The exit code is 0 if the peer has every
      save of the store, and the store has those of the peer.

      A folder contains the saves of one scope. The command sends the saves of its
      own device immediately, and those of other devices if the folder still lacks
      them 10 to 20 minutes after the first sync. A drive can upload the files of a
      folder after the command ends.

      Quit the app that uses the store first: a scope has one writer, and the saves
      of a running app would fail. The file with the restore token must be next to
      the store, as by default.
      """,
    sections: [
      .init(
        title: "OPTIONS",
        options: [
          .init("scope", "NAME", "scope of the store (default: main)"),
          .init(
            "as", "NAME",
            "name of the scope at the peer (default: that of the store)"),
        ])
    ],
    examples: [
      "sync notes.sqlite http://127.0.0.1:8080/ --as list-17",
      "sync notes.sqlite /Volumes/Family/list-17 --as list-17",
      "sync notes.sqlite 'ssh host rejoin serve --stdio hub.sqlite'",
    ],
    run: { try await SyncCommand($0).run() })

  private let file: String
  private let peer: String
  private let kind: SyncPeer
  private let scope: String
  private let peerScope: String

  /// Reads the arguments of `sync`.
  init(_ arguments: Arguments) throws(CommandError) {
    guard arguments.operands.count == 2 else {
      throw .usage("sync needs a FILE and a ROUTE; see `rejoin sync --help`")
    }
    (file, peer) = (arguments.operands[0], arguments.operands[1])
    kind = try SyncPeer(peer)
    scope = arguments.value("scope") ?? "main"
    peerScope = arguments.value("as") ?? scope
    for name in [scope, peerScope] where !(1...1_024 ~= name.utf8.count) {
      throw .usage(
        "a scope needs a name of 1 to 1,024 bytes, not \(name.utf8.count)")
    }
  }

  /// Syncs the store, and prints what was exchanged.
  func run() async throws {
    try await checkStore()
    switch kind {
    case .url(let url):
      try await sync(over: .http(routeName, scope: peerScope, url: url))
    case .folder(let path):
      try await sync(
        over: SyncRoute(
          routeName, scope: peerScope, objects: FolderStorage(at: path)))
    case .command:
      let child = try await ProcessRoute(peer)
      do {
        try await sync(
          over: SyncRoute(routeName, scope: peerScope) { request in
            try await child.ask(request)
          })
      } catch {
        await child.close()
        throw error
      }
      await child.close()
    }
  }

  /// Checks that the store exists.
  ///
  /// Opening would create a missing scope. Without its token, the store would take a
  /// new device ID, as a restored backup does.
  private func checkStore() async throws {
    var status = stat()
    guard stat(file, &status) == 0 else {
      throw CommandError.failed(
        "\(file) cannot be read: \(Files.reason(errno)); name the file of a store"
      )
    }
    let scopes: [String]
    let token: [UInt8]?
    do {
      scopes = try await ReplicaStore.scopes(at: file)
      token = try TokenFile(beside: file, scope: scope).load()
    } catch { throw CommandError.failed("\(file): \(error)") }
    if !scopes.contains(scope) {
      let names = scopes.map { "\"\($0)\"" }.joined(separator: ", ")
      throw CommandError.failed(
        "\(file) has no scope \"\(scope)\" of a store; "
          + (scopes.isEmpty ? "name a store" : "name one of \(names)"))
    }
    if token == nil {
      throw CommandError.failed(
        "the restore token of the scope \"\(scope)\" is not next to \(file); "
          + "sync the store in its app")
    }
  }

  /// The name of the route, without the peer, which can contain a password.
  private var routeName: String {
    var digest = Digest()
    var place = peer
    // A relative path is another folder elsewhere.
    if case .folder(let path) = kind { place = path }
    for text in [place, peerScope] { digest.add(text) }
    return "rejoin sync \(String(digest.value, radix: 16))"
  }

  private func sync(over route: SyncRoute) async throws {
    let store: ReplicaStore
    do {
      // Without a schema, the store keeps every entity and every field.
      store = try await ReplicaStore(at: file, scope: scope, schema: [])
    } catch { throw CommandError.failed("\(file): \(error)") }
    let (status, sent, received) = await pass(of: store, over: route)
    Terminal.write(summary(of: status, sent, received))
    do { try await store.close() } catch {
      throw CommandError.failed("\(file): \(error)")
    }
    if let failure = failure(of: status) { throw failure }
  }

  /// Performs a pass, and returns what it sent and received.
  private func pass(
    of store: ReplicaStore, over route: SyncRoute
  ) async -> (SyncStatus, sent: Amount, received: Amount) {
    func performed(
      collecting events: inout AsyncStream<SyncEvent>?
    ) async -> SyncStatus {
      let engine = SyncEngine(store, routes: [route])
      events = engine.events
      let status = await engine.sync()[0]
      await engine.stop()
      return status
    }
    var events: AsyncStream<SyncEvent>?
    let status = await performed(collecting: &events)
    // The engine is released, so its events end.
    var (sent, received) = (Amount(), Amount())
    if let events {
      for await event in events where event.end != nil {
        if event.kind == .export { sent.add(event) }
        if event.kind == .import { received.add(event) }
      }
    }
    return (status, sent, received)
  }

  /// The records and bytes of events.
  private struct Amount {
    var (records, bytes) = (0, 0)

    var text: String {
      if bytes == 0 { return "none" }
      return "\(records.counted("record")) in \(bytes.counted("byte"))"
    }

    mutating func add(_ event: SyncEvent) {
      records += event.records
      bytes += event.bytes
    }
  }

  private func summary(
    of status: SyncStatus, _ sent: Amount, _ received: Amount
  ) -> String {
    let unsent =
      status.isUploaded ? "none" : status.unsentSaves.counted("save")
    return """
      sent:      \(sent.text)
      received:  \(received.text)
      unsent:    \(unsent)
      synced:    \(status.isSynced ? "yes" : "no")

      """
  }

  /// Returns why the store is not synced, or `nil`.
  private func failure(of status: SyncStatus) -> CommandError? {
    switch status.error ?? status.uploadRefusal {
    case let error as CommandError: return error
    case let error as HTTPRouteError: return .failed("\(peer): \(error)")
    case let error as SyncRefusal: return .failed("\(peer): \(error)")
    case let error as StoreError: return .failed("\(file): \(error)")
    case let error as ObjectStorageError: return .failed("\(error)")
    case let error as WireError where kind.isFolder:
      return .failed("an object in \(peer): \(error)")
    case is WireError:
      return .failed(
        "\"\(peer)\" sent bytes that are not an answer; check the address, and "
          + "that it runs `rejoin serve`")
    case let error?:
      return .failed(
        "\(peer) cannot be reached (\(error.localizedDescription)); check the "
          + "address, and that the server runs")
    case nil:
      if kind.isFolder { return failure(inFolder: status) }
      if status.isUploaded { return nil }
      return .failed(
        "\(status.unsentSaves.counted("save")) not sent; run the command again")
    }
  }

  /// Returns what a folder lacks after a pass without an error, or `nil`.
  private func failure(inFolder status: SyncStatus) -> CommandError? {
    if status.isSynced { return nil }
    if status.isUploaded {
      return .failed(
        "\(peer) lacks a part of the saves of a device; run the command again "
          + "after that device or the drive has added it")
    }
    return .failed(
      "\(status.unsentSaves.counted("save")) of other devices not sent; run the "
        + "command again in 20 minutes")
  }
}
