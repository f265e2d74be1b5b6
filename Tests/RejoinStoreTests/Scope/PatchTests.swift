// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Changes of a record that is too large to be rewritten by each save.
@Suite final class PatchTests: StoreSuite {
  /// Returns a store with a note whose set and ledger have thousands of
  /// elements.
  private func largeNote() throws -> StoredScope {
    let store = try open(path, token: tokenStorage)
    try store.update { replica in
      try replica.save { transaction in
        for i in 0..<2000 {
          transaction[Note.self, "1"].tags.insert("tag \(i)")
        }
        transaction[Note.self, "1"].log.append(1)
      }
      for i in 0..<600 {
        try replica.save { $0[Note.self, "1"].log.append(Int64(i)) }
      }
    }
    return store
  }

  private func peer(of store: StoredScope) -> Replica {
    store.replica.fork(as: DeviceID(8))
  }

  /// Returns the stored state of the file.
  private func rows() throws -> [UInt8]? {
    try StoredScope.read("main", on: SQLiteConnection(opening: path))?.encoded()
  }

  /// Returns the number of patches, and the bytes of the patches and of the
  /// record.
  private func sizes() throws -> (count: Int64, patches: Int64, record: Int64) {
    let connection = try SQLiteConnection(opening: path)
    func integer(_ sql: String) throws -> Int64 {
      try connection.integer(sql) ?? 0
    }
    return (
      try integer("SELECT count(*) FROM rejoin_patch"),
      try integer("SELECT sum(length(body)) FROM rejoin_patch"),
      try integer("SELECT length(body) FROM rejoin_record")
    )
  }

  @Test(arguments: [
    "insert", "remove", "absent", "both", "again", "append", "count", "write",
    "delete",
    "nothing",
  ])
  func smallChangeWritesSmallPatch(_ change: String) throws {
    let store = try largeNote()
    let whole = try sizes()
    #expect(whole.count == 0 && whole.record > 20_000)
    try store.update { replica in
      try replica.save { transaction in
        let note = transaction[Note.self, "1"]
        switch change {
        case "insert": note.tags.insert("new")
        case "remove": note.tags.remove("tag 7")
        case "absent": note.tags.remove("none of them")
        case "both":
          note.tags.insert("new")
          note.tags.remove("tag 7")
          note.tags.remove("tag 8")
        case "again": note.tags.insert("tag 7")
        case "append": note.log.append(5, memo: "five")
        case "count": note.views.increment()
        case "write": note.title = "title"
        case "delete": note.delete()
        default: note.ensureExists()
        }
      }
    }
    let now = try sizes()
    #expect(now.count == 1 && now.record == whole.record)
    #expect(now.patches < 300)
    #expect(try rows() == store.bytes)
  }

  @Test func undoWritesSmallPatch() throws {
    let store = try largeNote()
    let whole = try sizes()
    let report = try store.update { replica in
      try replica.save { transaction in
        transaction.isUndoable = true
        transaction[Note.self, "1"].tags.insert("new")
        transaction[Note.self, "1"].tags.remove("tag 7")
      }
    }
    let undo = try #require(report.undo)
    try store.update { replica in _ = try replica.undo(undo) }
    let now = try sizes()
    #expect(now.record == whole.record && now.patches < 600)
    #expect(try rows() == store.bytes)
  }

  @Test func smallRecordHasNoPatch() throws {
    let store = try open(path, token: tokenStorage)
    for i in 0..<3 {
      try store.update { replica in
        try replica.save { transaction in
          for j in 0..<(i == 0 ? 60 : 1) {
            transaction[Note.self, "1"].tags.insert("tag \(i) \(j)")
          }
        }
      }
    }
    #expect(try sizes().count == 0)
  }

  /// The store receives only a part of a delta.
  @Test func patchCanBeAheadOfVersion() throws {
    let store = try largeNote()
    let peer = peer(of: store)
    try peer.save { transaction in
      transaction[Note.self, "1"].tags.insert("theirs")
      transaction[Note.self, "2"].title = "theirs"
    }
    let delta = try #require(peer.delta(since: store.replica.version))
    let part = try #require(
      delta.split(into: 2).first {
        $0.changes.map(\.id.key) == ["1"]
      })
    try store.update { _ = $0.apply(part) }
    #expect(try sizes().count == 1)
    let version = store.replica.version
    #expect(!version.fieldsAhead.isEmpty)
    #expect(try open(path, token: tokenStorage).replica.version == version)
  }

  @Test func receivedChangeWritesPatch() throws {
    let store = try largeNote()
    let peer = peer(of: store)
    try peer.save { transaction in
      transaction[Note.self, "1"].tags.insert("theirs")
      transaction[Note.self, "1"].tags.insert("tag 9")
    }
    let delta = try #require(peer.delta(since: store.replica.version))
    try store.update { _ = $0.apply(delta) }
    let now = try sizes()
    #expect(now.count == 1 && now.patches < 400)
    #expect(try rows() == store.bytes)
  }

  /// A change without a separate new part rewrites the whole record.
  @Test(arguments: ["clear", "whole", "ledger", "fold"])
  func largeChangeRewritesRecord(_ change: String) throws {
    let store = try largeNote()
    let peer = peer(of: store)
    try store.write("a patch")
    #expect(try sizes().count == 1)
    try peer.save { transaction in
      transaction[Note.self, "1"].tags.remove("tag 9")
      transaction[Note.self, "1"].log.append(5)
    }
    try store.update { replica in
      switch change {
      case "clear": try replica.save { $0[Note.self, "1"].tags.removeAll() }
      case "whole":
        let delta = try #require(peer.delta())
        _ = replica.apply(delta)
      case "ledger":
        try peer.save { $0[Note.self, "1"].log.append(6) }
        let delta = try #require(peer.delta(since: replica.version))
        _ = replica.apply(delta)
      default:
        for _ in 0..<4 {
          replica.merge(peer)
          replica.recordVersion(peer.version, of: peer.device)
          peer.merge(replica)
        }
        #expect(replica.foldLedgers() > 0)
      }
    }
    #expect(try sizes().count == 0)
    // The token is stored after the rows, so they differ until the next update.
    try store.update { _ in }
    #expect(try rows() == store.bytes)
  }

  /// Folding creates no save and does not make a ledger unequal.
  @Test func hubKeepsFoldOfSmallLedger() throws {
    let replica = Replica(
      device: DeviceID(8), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    try replica.save { transaction in
      for i in 0..<2000 {
        transaction[Note.self, "1"].tags.insert("tag \(i)")
      }
    }
    let basis = replica.version
    try replica.save { $0[Note.self, "1"].log.append(1) }
    let hub = try HubConnection(SQLiteConnection(opening: path)) { DeviceID(7) }
    _ = try hub.apply(#require(replica.delta()), in: "main")
    #expect(replica.foldLedgers() == 1)
    let folded = try #require(replica.delta(since: basis))
    #expect(try hub.delta(since: basis, in: "main") != folded)
    _ = try hub.apply(folded, in: "main")
    #expect(try sizes().count == 1)
    #expect(try hub.delta(since: basis, in: "main") == folded)
  }

  @Test func manyPatchesRewriteRecord() throws {
    var store = try largeNote()
    var counts: [Int64] = []
    for i in 0..<400 {
      try store.update { replica in
        try replica.save { transaction in
          transaction[Note.self, "1"].tags.insert("more \(i)")
          transaction[Note.self, "1"].tags.remove("tag \(i)")
        }
      }
      let now = try sizes()
      #expect(now.patches <= now.record / 2)
      counts.append(now.count)
      // A reopened store continues with the existing patches.
      if i % 50 == 20 { store = try open(path, token: tokenStorage) }
    }
    #expect(counts.max() ?? 0 > 50)
    #expect(counts.filter { $0 == 0 }.count >= 1)
    #expect(try rows() == store.bytes)
  }

  /// Two saves of a device share a number, so the content changes without a
  /// clock.
  @Test(
    arguments: [[1, 2], [2, 1]], ["title", "views", "exist", "blocked", "log"])
  func contentOfOtherHistoryIsStored(
    _ order: [Int], _ field: String
  ) throws {
    let store = try largeNote()
    try store.update { replica in
      try replica.save { transaction in
        for i in 0..<50 { transaction[Note.self, "1"].blocked.insert("\(i)") }
      }
    }
    // A third device has two histories.
    let backup = store.replica.fork(as: DeviceID(7)).state
    func history(_ number: Int) throws -> Delta {
      let replica = Replica(
        opening: backup, token: RestoreToken(backup), schema: [Note.self],
        wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(6) })
      try replica.save { transaction in
        let note = transaction[Note.self, "1"]
        switch (field, number) {
        case ("title", _): note.title = "history \(number)"
        case ("views", _): note.views.increment(by: Int64(number))
        case ("exist", 1): note.delete()
        case ("exist", _): note.ensureExists()
        case ("log", _): note.log.append(Int64(number))
        case (_, 1): note.blocked.insert("7")
        default: note.blocked.remove("7")
        }
      }
      return try #require(replica.delta(since: backup.version))
    }
    try store.write("a patch")
    for number in order {
      let delta = try history(number)
      try store.update { _ = $0.apply(delta) }
      #expect(try rows() == store.bytes)
      try store.update { replica in
        _ = replica.apply(delta)
        try replica.save { $0[Note.self, "1"].tags.insert("own \(number)") }
      }
      #expect(try rows() == store.bytes)
    }
  }

  @Test(arguments: [
    "DELETE FROM rejoin_patch WHERE place = 0",
    "DELETE FROM rejoin_patch WHERE place = 1",
    "DELETE FROM rejoin_patch",
    "UPDATE rejoin_patch SET record = 2",
    "UPDATE rejoin_patch SET place = place + 1 WHERE place = 1",
    "UPDATE rejoin_patch SET place = 2 - place",
    "UPDATE rejoin_patch SET body = x''",
    "UPDATE rejoin_patch SET body = (SELECT body FROM rejoin_record) "
      + "WHERE place = 0",
    "UPDATE rejoin_patch SET body = (SELECT body FROM rejoin_patch "
      + "WHERE place = 1) WHERE place = 0",
    "UPDATE rejoin_scope SET patches = 0",
  ])
  func damagedPatchIsReported(_ damage: String) throws {
    let store = try largeNote()
    try store.write("other", to: "2")
    for tag in ["a", "b"] {
      try store.update { replica in
        try replica.save { $0[Note.self, "1"].tags.insert(tag) }
      }
    }
    try SQLiteConnection(opening: path).run(damage)
    expectDamaged(damage) { try open(path, token: tokenStorage) }
  }
}
