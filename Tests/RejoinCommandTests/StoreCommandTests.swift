// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinSync
import RejoinTesting
import Testing

/// The output of `rejoin store`.
@Suite struct StoreCommandTests {
  private struct Note: Entity {
    let title = register("title", of: String.self)
  }

  @Test func storeInUseIsPrinted() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "notes.sqlite").path
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(name: "phone") ?? DeviceID(1) })
    for title in ["Milk", "Bread"] {
      try await store.save { $0[Note.self, title].title = title }
    }

    let hub = try await Hub(connections: 1) {
      try SQLiteConnection(opening: ":memory:")
    }
    let session = hub.makeSession { _ in }
    let engine = SyncEngine(
      store,
      routes: [
        SyncRoute("server", scope: "s") { await session.answer($0) },
        SyncRoute("offline", scope: "s") { _ in throw CancellationError() },
      ])
    await engine.sync()
    try await store.save { $0[Note.self, "Bread"].title = "Rye" }

    let printed = try rejoin("store", "--check", path)
    #expect(printed.code == 0)
    let lines = printed.text.split(separator: "\n")
    #expect(lines[1] == "scope \"main\": device phone, opened 1 time")
    #expect(lines[2].hasPrefix("2 records in "))
    #expect(lines[2].hasSuffix(" bytes, 0 patches in 0 bytes, 1 digest"))
    #expect(lines.contains { $0.split(separator: " ") == ["Note", "2"] })
    #expect(lines.contains { $0.hasPrefix("phone ") && $0.contains(" own") })
    let route = lines.first { $0.hasPrefix("server ") }
    let words = route?.split(separator: " ") ?? []
    #expect(words.count == 3 && words.last == "1")
    #expect(
      words.count == 3
        && (try? Date(String(words[1]), strategy: .iso8601)) != nil)
    #expect(!lines.contains { $0.hasPrefix("offline") })
    #expect(lines.last == "Every page and every row is undamaged.")

    try SQLiteConnection(opening: path).run(
      "UPDATE rejoin_record SET body = x'00' WHERE record = 2")
    let damaged = try rejoin("store", path)
    #expect(damaged.code == 1)
    #expect(
      damaged.text.contains("The store is damaged (in row 2 of the records"))
    withExtendedLifetime(store) {}
  }

  @Test func missingAndOtherFilesFail() throws {
    let missing = try rejoin("store", "/nowhere/notes.sqlite")
    #expect(missing.code == 1)
    #expect(missing.text.contains("No such file or directory"))
    let other = try rejoin("store", #filePath)
    #expect(other.code == 1)
    #expect(other.text.contains("file is not a database"))
    #expect(try rejoin("store").code == 2)
    #expect(try rejoin("store", "--help").text.hasPrefix("rejoin store:"))
  }
}
