// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Damaged and truncated files.
@Suite final class DamageTests: StoreSuite {
  private func fill(_ store: StoredScope) throws {
    for i in 1...12 {
      try store.update { replica in
        try replica.save { transaction in
          transaction[Note.self, "\(i % 5)"].title = "title \(i)"
          transaction[Note.self, "\(i % 5)"].tags.insert("tag \(i)")
        }
      }
    }
  }

  /// One bit of a file is flipped, at random offsets.
  @Test func flippedBitIsDetectedOrHarmless() throws {
    let store = try open(path, token: tokenStorage)
    try fill(store)
    let whole = store.bytes
    // A checkpoint leaves one file without a log.
    try SQLiteConnection(opening: path).run("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try [UInt8](Data(contentsOf: URL(filePath: path)))
    var random = SeededRandom(seed: 4)
    var (noticed, harmless) = (0, 0)
    for _ in 0..<600 {
      var damaged = file
      let bit = Int(random.next() % UInt64(8 * file.count))
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      let copy = folder.file("damaged.sqlite")
      try Data(damaged).write(to: URL(filePath: copy))
      do {
        let connection = try SQLiteConnection(opening: copy)
        try connection.run("PRAGMA cell_size_check = 1")
        let stored = try StoredScope.read("main", on: connection)
        #expect(stored?.encoded() == whole, "bit \(bit)")
        harmless += 1
      } catch { noticed += 1 }
      for end in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: copy + end)
      }
    }
    print("flipped bits: \(noticed) noticed, \(harmless) harmless")
    #expect(noticed > 0)
  }

  /// The log ends at or within a frame, as after a power cut.
  @Test func truncatedLogHasEarlierState() throws {
    let (log, states) = try fillLog()
    var latest = -1
    for k in 0...frames(of: log) {
      for cut in [32 + k * frame, 32 + k * frame + 1000]
      where cut <= log.count {
        guard let bytes = try state(withLog: Array(log[..<cut])) else {
          #expect(latest == -1)
          continue
        }
        let state = try #require(states.firstIndex(of: bytes))
        #expect(state >= latest)
        latest = state
      }
    }
    #expect(latest == 12)
  }

  /// One frame of the log is overwritten at a time.
  @Test func overwrittenLogHasEarlierState() throws {
    let (log, states) = try fillLog()
    for k in 0..<frames(of: log) {
      for (start, count) in [(0, frame), (24, 4096), (2000, 8)] {
        var damaged = log
        for i in 0..<count {
          damaged[32 + k * frame + start + i] ^= 0x5a
        }
        guard let bytes = try state(withLog: damaged) else { continue }
        #expect(states.contains(bytes), "frame \(k)")
      }
    }
  }

  /// The size of a frame.
  ///
  /// The log has a header of 32 bytes, and each frame has 24 bytes and a page
  /// of 4,096.
  private let frame = 24 + 4096

  private func frames(of log: [UInt8]) -> Int { (log.count - 32) / frame }

  /// Makes some saves.
  ///
  /// - Returns: The log of the saves, and the states between them.
  private func fillLog() throws -> (log: [UInt8], states: [[UInt8]]) {
    let store = try open(path, token: tokenStorage)
    var states: [[UInt8]] = [store.bytes]
    for i in 1...12 {
      try store.write("title \(i)", to: "\(i % 5)")
      states.append(store.bytes)
    }
    try folder.copy("notes.sqlite", to: "filled.sqlite")
    let log = try Data(contentsOf: URL(filePath: path + "-wal"))
    return ([UInt8](log), states)
  }

  /// Returns the stored state of the file with a log, or `nil` if no scope
  /// exists.
  private func state(withLog log: [UInt8]) throws -> [UInt8]? {
    try folder.copy("filled.sqlite", to: "copy.sqlite")
    let copy = folder.file("copy.sqlite")
    try Data(log).write(to: URL(filePath: copy + "-wal"))
    let connection = try SQLiteConnection(opening: copy)
    let exists = try connection.integer(
      "SELECT count(*) FROM sqlite_master WHERE name = 'rejoin_scope'")
    guard exists == 1 else { return nil }
    return try StoredScope.read("main", on: connection)?.encoded()
  }

  @Test func missingTableIsReported() throws {
    for table in ["scope", "device", "record", "digest"] {
      let path = folder.file("\(table).sqlite")
      try fill(try open(path))
      let connection = try SQLiteConnection(opening: path)
      try connection.run("ALTER TABLE rejoin_\(table) RENAME TO lost")
      expectDamaged(table) { try open(path) }
    }
  }

  @Test(arguments: [
    "DELETE FROM rejoin_record WHERE record = 3",
    "DELETE FROM rejoin_device",
    "DELETE FROM rejoin_digest WHERE n = 4",
    "DELETE FROM rejoin_digest WHERE n = 12",
    "UPDATE rejoin_digest SET digest = 1 WHERE n = 3",
    "UPDATE rejoin_device SET n = 13", "UPDATE rejoin_device SET time = 0",
    "UPDATE rejoin_device SET forked = 1",
    "UPDATE rejoin_record SET key = x'39' WHERE record = 2",
    "UPDATE rejoin_record SET entity = x'39' WHERE record = 2",
    "UPDATE rejoin_record SET scope = 2 WHERE record = 2",
    "UPDATE rejoin_record SET body = (SELECT body FROM rejoin_record "
      + "WHERE record = 1) WHERE record = 2",
    "UPDATE rejoin_scope SET name = x'39'",
    "UPDATE rejoin_scope SET head = x''", "UPDATE rejoin_scope SET records = 4",
    "UPDATE rejoin_scope SET format = -1",
  ])
  func damagedRowIsReported(_ damage: String) throws {
    try fill(try open(path, token: tokenStorage))
    try SQLiteConnection(opening: path).run(damage)
    expectDamaged(damage) { try open(path, token: tokenStorage) }
  }
}
