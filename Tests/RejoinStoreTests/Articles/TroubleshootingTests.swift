// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinSync
import Testing

/// The messages in the guide *Troubleshooting* are those of the library, and the
/// guide lists every message of a store, a save, a decoder, an engine and a folder.
@Suite struct TroubleshootingTests {
  private static let sql = SQLError(.busy, "SQLite: database is locked")

  /// One error of each kind.
  private static let errors: [any Error] = {
    let note = RecordID("Note", "1")
    let store: [StoreError] = [
      .cannotOpen(sql), .damaged("row 2"), .missing(nil), .newerFormat(9),
      .busy(sql), .unavailable(sql), .canceled, .readOnly(sql),
      .limitExceeded(sql),
      .notDurable(sql), .disconnected(sql), .superseded, .scopeBelongsToHub,
      .scopeBelongsToDevice, .scopeErased, .tokenUnreadable("locked"),
      .tokenNotStored("full"), .tokenNotRemoved("locked"),
      .fileReplaced("/notes.sqlite"), .closed, .suspended,
      .outOfStep(sql),
      .tooManyRecords(20_000, limit: 2_000), .tooManyDevices(limit: 10_000),
      .recordTooLarge(note, byteCount: 40_000_000, limit: 32 << 20),
      .scopeNameTooLong(byteCount: 1_025), .notCopied(sql), .protected(sql),
      .notCreated(path: "/notes.sqlite", scope: "main"),
      .invalidTable("notes", reason: "the name is used twice"),
      .tablesNotWritten("\"notes\": SQLite: UNIQUE constraint failed"),
    ]
    let save: [SaveError] = [
      .clockExhausted, .numbersExhausted(DeviceID(1)),
      .counterOverflow(note, field: "n"), .emptyKey(entity: "Note"),
      .keyTooLong(
        RecordID("Note", String(repeating: "k", count: 1025)), limit: 1024),
      .recordTooLarge(note, byteCount: 20_000_000), .positionTooLong,
      .purged(note), .observedKind(note, field: "n"),
      .identityInUse(DeviceID(1)),
    ]
    let refusals: [SyncRefusal] = [
      .denied, .gone, .wrongScope, .tooLarge, .full, .unsupportedFormat,
      .damaged, .busy(seconds: 5),
    ]
    let routes: [HTTPRouteError] = [.status(404), .tooLarge, .notHTTP]
    let objects: [ObjectStorageError] = [
      .tooManyObjects(limit: 100_000), .noFolder(path: "/notes"),
      .failed("/notes cannot be listed: Input/output error"),
    ]
    return store + save + decoding + refusals + routes + objects
  }()

  /// The errors of bytes that differ from a message in one way each.
  private static let decoding: [any Error] = {
    let version = ReplicaVersion().encoded()
    var (newer, older, damaged) = (version, version, version)
    newer[2] = 99
    older[2] = 0
    damaged[damaged.count - 1] ^= 1
    let bytes = [
      newer, older, damaged, Array(version.dropLast(9)), [1, 2, 3, 4],
    ]
    var errors: [any Error] = bytes.compactMap { bytes in
      do {
        _ = try ReplicaVersion(decoding: bytes)
        return nil
      } catch { return error }
    }
    do { _ = try Delta(decoding: version) } catch { errors.append(error) }
    return errors
  }()

  /// The sentences of the preconditions of an engine.
  private static let rules = [
    "The names of the routes of a `SyncEngine` must differ",
    "A store must have one `SyncEngine`", "A route must have the name",
  ]

  /// The beginnings of errors that only iCloud causes.
  private static let errorsOfCloudKit = [
    "The system deleted the file of the object", "iCloud did not answer for",
    "The object could not be written to",
  ]

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static let messages: [String] = {
    let page = root.appending(
      path: "Sources/RejoinStore/RejoinStore.docc/Troubleshooting.md")
    let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    let end = text.range(of: "### Values that surprise")?.lowerBound
    return text[..<(end ?? text.endIndex)].split(separator: "\n")
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| Message") }
      .compactMap { $0.split(separator: "|").first }
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }()

  @Test func guideListsEveryError() {
    #expect(Self.messages.count > 30)
    for error in Self.errors {
      let text = "\(error)"
      #expect(
        Self.messages.contains { text.hasPrefix($0) }, "no row for: \(text)")
    }
  }

  /// The problems that a status describes.
  private static func problems() async throws -> [String] {
    struct Offline: Error {}
    let store = try await ReplicaStore.inMemory(schema: [Note.self])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let hub = try await Hub(connections: 1) {
      try SQLiteConnection(opening: ":memory:")
    }
    let session = hub.makeSession { request in
      if case .write = request { throw SyncRefusal.denied }
    }
    let engine = SyncEngine(
      store,
      routes: [
        SyncRoute("server", scope: "s") { _ in throw Offline() },
        SyncRoute("other", scope: "s") { await session.answer($0) },
      ])
    let problems = await engine.sync().compactMap(\.problem)
    await engine.stop()
    return problems
  }

  @Test func guideListsEveryProblem() async throws {
    let problems = try await Self.problems()
    #expect(problems.count == 2)
    for text in problems + Self.rules + Self.errorsOfCloudKit {
      #expect(
        Self.messages.contains { text.hasPrefix($0) }, "no row for: \(text)")
    }
    let engine = try ["SyncEngine", "EngineCore"].map {
      try String(
        contentsOf: Self.root.appending(
          path: "Sources/RejoinSync/Engine/\($0).swift"), encoding: .utf8)
    }.joined()
    for rule in Self.rules { #expect(engine.contains(rule)) }
    let storage = try String(
      contentsOf: Self.root.appending(
        path: "Sources/RejoinSync/CloudKit/CloudKitStorage.swift"),
      encoding: .utf8)
    for error in Self.errorsOfCloudKit { #expect(storage.contains(error)) }
  }

  @Test func everyListedMessageHasError() async throws {
    let texts =
      Self.errors.map { "\($0)" } + Self.rules + Self.errorsOfCloudKit
      + (try await Self.problems())
    // Two messages need bytes with a valid checksum.
    let rare = [
      "The message is invalid", "The message is not in its canonical form",
    ]
    for message in Self.messages where !rare.contains(message) {
      #expect(
        texts.contains { $0.hasPrefix(message) },
        "no error begins with: \(message)")
    }
  }
}
