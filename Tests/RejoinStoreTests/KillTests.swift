// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing
import _RejoinVerification

/// Processes that are killed while they open, create, save, merge and send.
///
/// `REJOIN_TIER=nightly swift test --filter KillTests` kills 2,000.
@Suite struct KillTests {
  private static let count =
    Tier.isNightly ? 2000 : 50
  /// After how many microseconds a process is killed at the latest.
  private static let longest: UInt64 =
    Tier.isNightly ? 900_000 : 300_000

  private static var writer: URL? {
    [
      Bundle.main.bundleURL,
      Bundle(for: Folder.self).bundleURL.deletingLastPathComponent(),
    ].map { $0.appending(path: "StoreWriter") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  @Test func whatWasAcknowledgedIsThere() throws {
    let writer = try #require(Self.writer)
    var random = SeededRandom(seed: 1)
    var folder = try Folder()
    var (last, total, openings) = (0, 0, 0)
    for i in 0..<Self.count {
      // A new file now and then, so that creating it is interrupted, too.
      if i % 20 == 0 { (folder, last) = (try Folder(), 0) }
      let process = Process()
      let output = Pipe()
      process.executableURL = writer
      process.arguments = [folder.file("store.sqlite"), "\(i)"]
      process.standardOutput = output
      process.environment = ["SWIFT_BACKTRACE": "enable=no"]
      try process.run()
      // Half of them early, in the middle of opening.
      let bound: UInt64 = i % 2 == 0 ? 60_000 : Self.longest
      usleep(UInt32(random.next() % bound))
      _ = kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal)
      #expect(process.terminationStatus == 9, "kill \(i)")
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(),
        as: UTF8.self)
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        let n = try #require(Int(words[1]))
        switch words[0] {
        case "open":
          #expect(n >= last, "kill \(i): \(last - n) saves are lost")
          #expect(words[3] == "0", "kill \(i): a needless new device")
          openings += 1
        case "saved":
          #expect(n == last + 1)
          total += 1
        default: #expect(n == last)
        }
        last = n
      }
    }
    print("kills: \(Self.count), \(openings) openings, \(total) saves")
    #expect(openings > 0 && total > 0)
  }

  /// A disk quota, by which writing fails anywhere in a commit.
  @Test func filesThatMayNotGrowLoseNothing() throws {
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
