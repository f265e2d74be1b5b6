// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// A change that sends its saves and is then undone.
///
/// The peer has saves that the store lacks. No later save of the store must use
/// the numbers of these saves.
@Suite final class SentThenUndoneTests: StoreSuite {
  private let peer = Replica(
    device: DeviceID(8), schema: [Note.self],
    wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })

  /// The devices of the store: each new one has the next number.
  private var devices = (1 as UInt64)...
  private var failing: Set<String> = []
  private let writer = SwitchedWriter()
  /// Whether the transaction in progress writes.
  private var isWriting = false

  private func open() throws -> StoredScope {
    let connection = FailingConnection(
      try SQLiteConnection(opening: path)
    ) { [unowned self] sql in
      if sql.hasPrefix("BEGIN") { isWriting = sql.hasSuffix("IMMEDIATE") }
      return isWriting && failing.contains { sql.hasPrefix($0) }
        ? SQLError(.full, "full") : nil
    }
    try connection.run("PRAGMA journal_mode = WAL")
    return try StoredScope(
      "main", on: connection, schema: [Note.self], writing: writer.write,
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { [unowned self] in
        defer { devices = (devices.lowerBound + 1)... }
        return DeviceID(devices.lowerBound)
      })
  }

  /// Sends to the peer, which must not report a fork.
  private func send(_ store: StoredScope) throws {
    if let delta = try store.export({ $0.delta(since: peer.version) }) {
      #expect(!peer.apply(delta).hasFaults)
    }
  }

  /// Sends all that the peer has.
  private func receive(_ store: StoredScope) throws {
    guard let delta = peer.delta(since: store.replica.version) else { return }
    let report = try store.update { $0.apply(delta) }
    #expect(!report.hasFaults)
  }

  private func saveAndSend(_ replica: Replica) throws {
    try replica.save { $0[Note.self, "1"].title = "sent" }
    let delta = try #require(replica.delta(since: peer.version))
    #expect(!peer.apply(delta).hasFaults)
  }

  private func expectNewDevice(_ store: StoredScope) throws {
    let dot = try #require(try store.write("next").dot)
    #expect(dot == Dot(DeviceID(2), 1))
    #expect(store.deviceChange?.old == DeviceID(1))
    #expect(store.deviceChange?.lastStored == 1)
    #expect(store.deviceChange?.lastSent == 2)
    try send(store)
    try receive(store)
    #expect(store.title == peer[Note.self, "1"]?.title)
    #expect(store.replica.version.vectorClock == peer.version.vectorClock)
    #expect(
      store.replica.ownDevices.isSuperset(of: [DeviceID(1), DeviceID(2)]))
    let again = try open()
    #expect(again.replica.device == DeviceID(2))
    #expect(again.deviceChange == nil)
    #expect(again.bytes == store.bytes)
  }

  /// Opens a store with a save, whose next save is sent and then undone.
  private func storeThatSentAndUndid() throws -> StoredScope {
    let store = try open()
    try store.write("first")
    #expect(throws: Refused.self) {
      try store.update { replica in
        try saveAndSend(replica)
        throw Refused()
      }
    }
    return store
  }

  @Test func numberIsNotUsedAgain() throws {
    let store = try storeThatSentAndUndid()
    #expect(store.title == "first")
    try expectNewDevice(store)
  }

  /// The peer sends the save back before the next one.
  @Test func sentSaveReturnsWithoutFault() throws {
    let store = try storeThatSentAndUndid()
    try receive(store)
    #expect(store.title == "sent")
    try expectNewDevice(store)
  }

  @Test func appTablesThrow() throws {
    let store = try open()
    try store.write("first")
    writer.refuse()
    #expect(throws: Refused.self) { try store.update(saveAndSend) }
    writer.current = nil
    try expectNewDevice(store)
  }

  @Test func commitFails() throws {
    let store = try open()
    try store.write("first")
    failing = ["COMMIT"]
    #expect(throws: StoreError.self) { try store.update(saveAndSend) }
    // The new device could not be written.
    #expect(store.deviceChange == nil)
    failing = []
    try receive(store)
    #expect(store.title == "sent")
    let dot = try #require(try store.write("next").dot)
    #expect(dot.device != DeviceID(1) && dot.sequence == 1)
    try send(store)
    try receive(store)
    #expect(try open().deviceChange == nil)
  }

  /// The process exits before the new device could be written.
  @Test func processExitsAfterCommitFailed() throws {
    let store = try open()
    try store.write("first")
    failing = ["UPDATE"]
    #expect(throws: StoreError.self) { try store.update(saveAndSend) }
    failing = []
    let again = try open()
    let dot = try #require(try again.write("next").dot)
    #expect(dot.device != DeviceID(1) && dot.sequence == 1)
    #expect(again.deviceChange?.lastSent == 2)
    try send(again)
    try receive(again)
  }

  /// The state before the change is sent, and then the process exits.
  @Test func exportDoesNotHideSentSave() throws {
    let store = try open()
    try store.write("first")
    failing = ["UPDATE"]
    #expect(throws: StoreError.self) { try store.update(saveAndSend) }
    failing = []
    let token = try RestoreToken(decoding: try #require(tokenStorage.bytes))
    #expect(token.device == DeviceID(1) && token.sequence == 2)
    try send(store)
    let again = try open()
    #expect(try again.write("next").dot?.device != DeviceID(1))
    try send(again)
    try receive(again)
  }

  @Test func pullIsSent() throws {
    let store = try open()
    try store.update { replica in
      try replica.importRows(from: "server", modifiedAt: 10) {
        $0[Note.self, "1"].title = "a"
      }
    }
    let first = store.replica.ownDevices
    #expect(first.count == 2)
    #expect(throws: Refused.self) {
      try store.update { replica in
        try replica.importRows(from: "server", modifiedAt: 20) {
          $0[Note.self, "1"].title = "b"
        }
        #expect(!peer.apply(try #require(replica.delta())).hasFaults)
        throw Refused()
      }
    }
    try store.update { replica in
      try replica.importRows(from: "server", modifiedAt: 30) {
        $0[Note.self, "1"].title = "c"
      }
    }
    try send(store)
    try receive(store)
    // Device 1 has no saves.
    #expect(
      store.replica.ownDevices.isSuperset(of: first.subtracting([DeviceID(1)])))
  }

  /// Without a save, nothing needs another device.
  @Test func sentStateWithoutSavesKeepsDevice() throws {
    let store = try open()
    try store.write("first")
    #expect(throws: Refused.self) {
      try store.update { replica in
        let delta = try #require(replica.delta())
        #expect(!peer.apply(delta).hasFaults)
        throw Refused()
      }
    }
    #expect(throws: Refused.self) {
      try store.update { replica in
        try replica.save { $0[Note.self, "1"].title = "not sent" }
        throw Refused()
      }
    }
    #expect(try store.write("next").dot == Dot(DeviceID(1), 2))
    try send(store)
    #expect(try open().deviceChange == nil)
  }
}
