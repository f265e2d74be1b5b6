// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Stores that cannot be written, which open for reading and save after they
/// become writable.
///
/// Another process opens it, because a test can have all permissions.
@Suite(.serialized) final class ReadingTests: StoreSuite {
  private var file: String { folder.file("folder/notes.sqlite") }

  /// Saves three times, and sends the saves.
  ///
  /// - Parameter isKilled: Whether the store is not closed, so its log stays.
  private func fill(isKilled: Bool) throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: true)
    let connection = try SQLiteConnection(opening: isKilled ? path : file)
    try connection.run("PRAGMA journal_mode = WAL")
    let store = try StoredScope(
      "main", on: connection, schema: [Saved.self],
      wallClock: ManualClock().wallClock, token: TokenFile(beside: file),
      makeDeviceID: { DeviceID(1) })
    for _ in 0..<3 {
      try store.update { replica in
        try replica.save { $0[Saved.self, "own"].saves.increment(by: 1) }
      }
    }
    try store.export { _ in }
    if isKilled {
      for end in ["", "-wal", "-shm"] {
        try FileManager.default.copyItem(
          atPath: path + end, toPath: file + end)
      }
    }
    connection.close()
  }

  private func setPermissions(_ number: Int, file name: String) throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: number], ofItemAtPath: name)
  }

  /// Lets `StoreWriter` open the store.
  ///
  /// - Parameter makeRoom: A closure that makes the store writable.
  /// - Returns: The lines that the process printed.
  private func run(
    as who: String, _ makeRoom: () throws -> Void
  ) throws -> [String] {
    let writer = try #require(KillTests.writer)
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = writer
    process.arguments = [file, "0", "--reading", who]
    (process.standardInput, process.standardOutput) = (input, output)
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    try process.run()
    let reading = output.fileHandleForReading
    var text = ""
    // Another process may keep the pipe open, so do not wait for its end.
    func read(until isLast: (String) -> Bool) {
      while !text.split(separator: "\n").contains(where: { isLast("\($0)") }) {
        let data = reading.availableData
        if data.isEmpty { return }
        text += String(decoding: data, as: UTF8.self)
      }
    }
    read { $0.hasPrefix("refused") || $0.hasPrefix("saved") }
    try makeRoom()
    try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
    read { $0 == "end" }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return text.split(separator: "\n").map(String.init).filter { $0 != "end" }
  }

  private func expectLines(
    _ lines: [String], naming reason: String, newDevice: Int = 0
  ) throws {
    try #require(lines.count == 4, "\(lines)")
    #expect(lines[0].hasPrefix("read 3 0 "), "\(lines[0])")
    #expect(lines[0].contains(reason), "\(lines[0])")
    #expect(lines[1].hasPrefix("refused "))
    #expect(lines[1].contains(reason), "\(lines[1])")
    #expect(lines[2] == "saved \(newDevice) true")
    #expect(lines[3] == "again 3 0")
  }

  @Test(arguments: [false, true])
  func readOnlyFileIsReadUntilWritable(_ isKilled: Bool) throws {
    try fill(isKilled: isKilled)
    try setPermissions(0o444, file: file)
    for end in ["-wal", "-shm"] where isKilled {
      try setPermissions(0o666, file: file + end)
    }
    try setPermissions(0o777, file: folder.file("folder"))
    try setPermissions(0o666, file: file + ".token")
    let lines = try run(as: "nobody") { try makeWritable() }
    try expectLines(lines, naming: "the file \(file) cannot be written")
  }

  /// SQLite gives the log the permissions of the file.
  private func makeWritable() throws {
    let folder = folder.file("folder")
    try setPermissions(0o777, file: folder)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try setPermissions(0o666, file: folder + "/" + name)
    }
  }

  @Test(arguments: [false, true])
  func readOnlyFolderIsReadUntilWritable(_ isKilled: Bool) throws {
    try fill(isKilled: isKilled)
    let folder = folder.file("folder")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try setPermissions(0o444, file: folder + "/" + name)
    }
    try setPermissions(0o555, file: folder)
    let lines = try run(as: "nobody") { try makeWritable() }
    try expectLines(lines, naming: "cannot be written")
  }

  /// The limit acts like a full disk.
  @Test func limitedProcessReadsStore() throws {
    try fill(isKilled: false)
    try expectLines(try run(as: "limited") {}, naming: "SQLite: disk I/O error")
  }

  /// The backup lacks a save that was sent.
  @Test func restoredBackupTakesNewDeviceAtFirstChange() throws {
    try fill(isKilled: false)
    let store = try open(file, token: TokenFile(beside: file))
    try store.copy(to: path)
    try store.write("lost")
    try store.export { _ in }
    for end in ["", "-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: file + end)
    }
    try FileManager.default.moveItem(atPath: path, toPath: file)
    try expectLines(
      try run(as: "limited") {}, naming: "SQLite: disk I/O error", newDevice: 1)
  }

  @Test func openingScopeSupersedesReader() throws {
    try fill(isKilled: false)
    let lines = try run(as: "limited") {
      let other = try open(file, token: TokenFile(beside: file), as: 5)
      #expect(other.deviceChange == nil)
    }
    #expect(lines.count == 3 && lines[2].hasPrefix("refused Another store"))
  }

  /// The previous writer continues, and its number is unchanged.
  @Test func changingScopeSupersedesReader() throws {
    try fill(isKilled: false)
    let writer = try open(file, token: TokenFile(beside: file), as: 5)
    // The other process can write files that are shorter than the log is now.
    for i in 0..<20 { try writer.write("before \(i)") }
    let lines = try run(as: "limited") {
      try writer.write("after", to: "2")
      try writer.write("after", to: "3")
    }
    #expect(lines.count == 3, "\(lines)")
    #expect(lines.last?.hasPrefix("refused Another store") == true, "\(lines)")
    try writer.write("still the writer", to: "4")
    let again = try open(file, token: TokenFile(beside: file), as: 6)
    #expect(again.deviceChange == nil)
    #expect(again.read { $0[Note.self, "3"]?.title } == "after")
  }

  /// The store has no log, and its folder cannot be written.
  @Test(arguments: ["a b?c%20d#e", "#\u{fe0f}\u{20e3} ?\u{fe0f}", "ä\u{301}"])
  func pathMayHaveSpecialCharacters(_ name: String) throws {
    let path = folder.file(name)
    do {
      let store = try open(path, token: tokenStorage)
      try store.write("Milk")
    }
    try SQLiteConnection(opening: path).run("PRAGMA journal_mode = DELETE")
    let rows = try SQLiteConnection(opening: path, .unchanging)
    let stored = try #require(try StoredScope.read("main", on: rows))
    #expect(stored.recordCount == 1)
    #expect(throws: SQLError.self) { try rows.run("DELETE FROM rejoin_scope") }
  }

  /// A scope that does not exist cannot be created.
  @Test func missingScopeCannotBeRead() throws {
    try fill(isKilled: false)
    try SQLiteConnection(opening: file).run("DELETE FROM rejoin_scope")
    try TokenFile(beside: file).remove()
    let writer = try #require(KillTests.writer)
    let process = Process()
    process.executableURL = writer
    process.arguments = [file, "0", "--reading", "limited"]
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    process.standardError = Pipe()
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus != 0)
  }
}

/// The notes of `StoreWriter`.
private struct Saved: Entity {
  static let entityName = "Note"
  let saves = counter("saves")
}
