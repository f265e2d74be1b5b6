// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing
import _RejoinVerification

@testable import RejoinStore

/// Processes that are killed while they open, create, save, merge and send.
///
/// `REJOIN_TIER=nightly swift test --filter KillTests` kills 2,000.
@Suite struct KillTests {
  private static let count =
    Tier.isNightly ? 2000 : 50
  /// The maximum number of microseconds before a process is killed.
  private static let longest: UInt64 =
    Tier.isNightly ? 900_000 : 300_000

  static var writer: URL? { TestProgram.named("StoreWriter") }

  /// Starts a process, and kills it after at most `bound` microseconds.
  ///
  /// - Returns: The lines that it printed, as words.
  private func killed(
    _ arguments: [String], within bound: UInt64, _ random: inout SeededRandom
  ) throws -> [[Substring]] {
    let writer = try #require(Self.writer)
    let (process, output) = (Process(), Pipe())
    process.executableURL = writer
    process.arguments = arguments
    process.standardOutput = output
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    try process.run()
    usleep(UInt32(random.next() % bound))
    _ = kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    #expect(process.terminationStatus == 9, "\(arguments)")
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(),
      as: UTF8.self)
    return text.split(separator: "\n").map { $0.split(separator: " ") }
  }

  @Test func killKeepsAcknowledgedSaves() throws {
    var random = SeededRandom(seed: 1)
    var folder = try Folder()
    var (last, total, openings, claims) = (0, 0, 0, 0)
    for i in 0..<Self.count {
      // A new file lets a kill interrupt the creation.
      if i % 20 == 0 { (folder, last) = (try Folder(), 0) }
      // Half of the kills are early and interrupt the opening.
      let lines = try killed(
        [folder.file("store.sqlite"), "\(i)"],
        within: i % 4 < 2 ? 60_000 : Self.longest, &random)
      for words in lines {
        let n = try #require(Int(words[1]))
        switch words[0] {
        case "open":
          #expect(n >= last, "kill \(i): \(last - n) saves are lost")
          #expect(words[3] == "0", "kill \(i): a needless new device")
          openings += 1
        case "claimed":
          #expect(n == last)
          #expect(words[3] == "0", "kill \(i): a needless new device")
          claims += 1
        case "saved":
          #expect(n == last + 1)
          total += 1
        default: #expect(n == last)
        }
        last = n
      }
      let file = try SQLiteConnection(opening: folder.file("store.sqlite"))
      let fault = try NotesTable.fault(on: file)
      #expect(fault == nil, "kill \(i): \(fault ?? "")")
    }
    print(
      "kills: \(Self.count), \(openings) openings, \(claims) late claims, "
        + "\(total) saves")
    #expect(openings > 0 && claims > 0 && total > 0)
  }

  /// The process is killed while it copies its store.
  @Test func killedCopyIsCompleteOrMissing() throws {
    let folder = try Folder()
    let path = folder.file("store.sqlite")
    do {
      let store = try open(path, token: TokenFile(beside: path))
      try store.update { replica in
        try replica.save { transaction in
          for i in 0..<2_000 { transaction[Note.self, "\(i)"].title = "\(i)" }
        }
      }
    }
    var random = SeededRandom(seed: 1)
    let files = FileManager.default
    var (complete, partial, acknowledged) = (0, 0, 0)
    for i in 0..<(Tier.isNightly ? 500 : 25) {
      let lines = try killed(
        [path, "\(i)", "--copies"], within: 120_000, &random)
      for words in lines where words[0] == "copied" {
        #expect(files.fileExists(atPath: "\(path).copy-\(words[1])"))
        acknowledged += 1
      }
      for name in try files.contentsOfDirectory(atPath: folder.path)
      where name.contains(".copy-") {
        defer { try? files.removeItem(atPath: folder.file(name)) }
        guard !name.contains(".new") else {
          partial += 1
          continue
        }
        let rows = try SQLiteConnection(opening: folder.file(name), .reading)
        let stored = try #require(try StoredScope.read("main", on: rows))
        #expect(stored.recordCount == 2_000, "kill \(i): \(name)")
        complete += 1
      }
    }
    print(
      "copies: \(complete) complete, \(acknowledged) acknowledged, "
        + "\(partial) in part under another name")
    #expect(complete > 0 && partial > 0)
  }

  /// With a quota, a write can fail anywhere in a commit.
  @Test func diskQuotaLosesNothing() throws {
    let writer = try #require(Self.writer)
    let folder = try Folder()
    var last = 0
    for (i, limit) in stride(from: 150_000, to: 900_000, by: 31_007)
      .enumerated()
    {
      let process = Process()
      let output = Pipe()
      process.executableURL = writer
      process.arguments = [folder.file("store.sqlite"), "\(i)", "\(limit)"]
      process.standardOutput = output
      process.environment = ["SWIFT_BACKTRACE": "enable=no"]
      try process.run()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(),
        as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(limit) bytes")
      let lines = text.split(separator: "\n")
        .map { $0.split(separator: " ").map(String.init) }
      let open = try #require(lines.first)
      #expect(open[0...1] == ["open", "\(last)"] && open[3] == "0")
      let saved = lines.last { $0[0] == "saved" }.flatMap { Int($0[1]) }
      #expect(lines.last?[0...1] == ["full", "\(saved ?? last)"])
      last = saved ?? last
    }
    #expect(last > 20)
  }
}
