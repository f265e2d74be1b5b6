// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinCommand

/// The command as a user runs it: help, version, input and exit codes.
@Suite struct CommandTests {
  private static let tests = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let script = tests.appending(
    path: "RejoinCommandTests/Scripts/001-ledger-adds-up.jsonl"
  ).path
  private static let message = tests.appending(
    path: "RejoinTests/Golden/delta-every-kind.bin"
  ).path
  private static let program = Bundle.module.bundleURL
    .deletingLastPathComponent().appending(path: "rejoin").path

  /// Runs a shell command with a function `rejoin` that runs the command.
  private func shell(_ text: String, in folder: URL? = nil) throws -> Printed {
    try run(
      URL(filePath: "/bin/bash"),
      ["-c", "rejoin() { '\(Self.program)' \"$@\"; }\n\(text)"], in: folder)
  }

  /// Progress appears on a terminal only.
  @Test func comparisonShowsProgressOnTerminal() throws {
    let words = "compare --workload calm --format markdown --episodes 2000"
    let terminal = try shell(
      "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "
        + "'\(Self.program)' \(words)")
    #expect(terminal.text.contains(" of 2,000\u{1b}[K"))
    #expect(try shell("rejoin \(words)").text.contains("\r") == false)
  }

  @Test func versionEqualsLatestInChangelog() throws {
    let printed = try rejoin("--version")
    #expect(printed.text == "rejoin \(Commands.version)\n")
    #expect(printed.code == 0)
    let changelog = try String(
      contentsOf: Self.tests.deletingLastPathComponent()
        .appending(path: "CHANGELOG.md"), encoding: .utf8)
    let releases = changelog.split(separator: "\n")
      .filter { $0.hasPrefix("## ") }
    #expect(releases.first?.hasPrefix("## \(Commands.version)") == true)
  }

  @Test func helpListsEveryCommand() throws {
    let printed = try rejoin("--help")
    #expect(printed.code == 0)
    for command in Commands.all {
      #expect(printed.text.contains("\n  \(command.name) "))
    }
    #expect(try rejoin("sing").code == 2)
    #expect(try rejoin().code == 2)
  }

  @Test(arguments: Commands.all.map(\.name))
  func helpListsEveryOption(_ name: String) throws {
    let command = try #require(Commands.all.first { $0.name == name })
    let printed = try rejoin(name, "--help")
    #expect(printed.code == 0)
    #expect(
      printed.text.hasPrefix("rejoin \(name): \(command.purpose)\n\nUSAGE"))
    for option in command.options.flatMap(\.names) {
      #expect(printed.text.contains("--\(option)"))
    }
    for line in printed.text.split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
    }
    #expect(try rejoin(name, "--unknown").code == 2)
  }

  @Test func replayHelpExplainsSyncAndMerge() throws {
    let text = try rejoin("replay", "--help").text
    #expect(text.contains("in a delta"))
    #expect(!text.contains("whole state"))
  }

  @Test(arguments: [
    "replay - < '\(script)'", "replay <(cat '\(script)')",
    "inspect - < '\(message)'", "inspect <(cat '\(message)')",
    "compare - < episodes", "compare <(cat episodes)",
    "compare --base <(cat base) --mine <(cat mine) --theirs - < theirs",
  ])
  func pipesAreRead(_ words: String) throws {
    let folder = try Folder()
    try folder.write(
      #"{"id":"e","base":{"n":3},"mine":{"n":2},"theirs":{"n":1}}"#,
      to: "episodes")
    try folder.write("id,n\n1,3\n", to: "base")
    try folder.write("id,n\n1,2\n", to: "mine")
    try folder.write("id,n\n1,1\n", to: "theirs")
    let printed = try shell("rejoin \(words)", in: folder.url)
    #expect(printed.code == 0, "\(printed.text)")
    #expect(!printed.text.isEmpty)
  }

  /// The last line of the output is the result that the article shows.
  @Test func scriptOfGuideRuns() throws {
    let page = try String(
      contentsOf: Self.tests.deletingLastPathComponent().appending(
        path: "Sources/RejoinStore/RejoinStore.docc/TestingYourApp.md"),
      encoding: .utf8)
    let block = page.components(separatedBy: "```\n").first {
      $0.hasPrefix("{\"entities\"")
    }
    let folder = try Folder()
    let script = try folder.write(try #require(block), to: "script.jsonl")
    let printed = try rejoin("replay", script)
    #expect(printed.code == 0)
    #expect(printed.text.contains("Oat milk") && printed.text.contains("Milk"))
  }

  @Test func storesAreReadFromPipe() throws {
    let folder = try Folder()
    let stores = folder.url.path
    let made = try rejoin("replay", Self.script, "--store", stores)
    #expect(made.code == 0)
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: stores)
        .first { $0.hasSuffix(".sqlite") })
    let file = "\(stores)/\(name)"
    let printed = try shell("rejoin store --check - < '\(file)'")
    #expect(printed.code == 0, "\(printed.text)")
    #expect(printed.text.hasPrefix("-: "))
    #expect(try shell("rejoin store <(cat '\(file)')").code == 0)
  }

  @Test func databasesAreReadFromPipes() throws {
    let folder = try Folder()
    for (name, number) in [("base", 3), ("mine", 2), ("theirs", 1)] {
      let path = folder.url.appending(path: name).path
      let connection = try SQLiteConnection(opening: path)
      try connection.run("CREATE TABLE item (id TEXT PRIMARY KEY, n INTEGER)")
      try connection.run("INSERT INTO item VALUES ('1', \(number))")
      connection.close()
    }
    let printed = try shell(
      "rejoin compare --base base --mine <(cat mine) --theirs - < theirs",
      in: folder.url)
    #expect(printed.code == 0, "\(printed.text)")
  }

  /// A file that cannot be read or written causes exit code 1 in every
  /// subcommand.
  ///
  /// The message contains the system's reason, but no type of an error.
  @Test(arguments: [
    ("replay no/such", "No such file or directory"),
    ("inspect no/such", "No such file or directory"),
    ("compare no/such", "No such file or directory"),
    ("store no/such", "No such file or directory"),
    ("compare --base no/a --mine no/b --theirs no/c", "No such file"),
    ("replay /tmp", "it is a folder"), ("inspect /tmp", "it is a folder"),
    ("compare /tmp", "it is a folder"), ("store /tmp", "it is a folder"),
    ("compare --html no/such/page", "No such file or directory"),
    ("compare --export /tmp", "it is a folder"),
    ("replay \(script) --store /dev/null/x", "Not a directory"),
  ])
  func unreadableFileExitsWithOne(words: String, reason: String) throws {
    let printed = try shell("rejoin \(words)")
    #expect(printed.code == 1, "\(printed.text)")
    #expect(printed.text.contains(reason), "\(printed.text)")
    for name in ["NSError", "NSCocoa", "Error Domain", "CocoaError"] {
      #expect(!printed.text.contains(name))
    }
  }

  @Test func wrongInputExitsWithTwo() throws {
    let folder = try Folder()
    let bad = try folder.write("{\n", to: "bad")
    #expect(try rejoin("replay", bad).code == 2)
    #expect(try rejoin("compare", bad).code == 2)
    let bytes = folder.url.appending(path: "bytes")
    try Data([0xff, 0xfe]).write(to: bytes)
    #expect(try rejoin("replay", bytes.path).code == 2)
    #expect(try rejoin("inspect", bytes.path).code == 1)
  }

  @Test func tableIsShortWithoutAll() throws {
    // Only the number of episodes matters, so they are short, with one strategy.
    func compared(_ options: String = "") throws -> String {
      try shell(
        "rejoin compare --workload calm --edits 1 --devices 2 "
          + "--strategies rejoin \(options)"
      ).text
    }
    let short = try compared()
    #expect(short.contains("100 episodes"), "\(short)")
    #expect(!short.contains("seed 2"))
    let all = try compared("--all")
    #expect(all.contains("1,000 episodes"), "\(all)")
    #expect(all.contains("seed 2"))
    #expect(try compared("--format json").contains("\"episodes\":1000"))
  }

  @Test func countsAreSingularOrPlural() throws {
    #expect(0.counted("record") == "0 records")
    #expect(1.counted("record") == "1 record")
    #expect((-1234).counted("record") == "-1,234 records")
    #expect(1.counted("patch", "patches") == "1 patch")
    let printed = try rejoin(
      "compare", "--workload", "calm", "--episodes", "1", "--all")
    #expect(printed.text.contains("1 episode,"), "\(printed.text.prefix(300))")
    for words in ["1 records", "1 episodes", "1 edits", "1 seeds"] {
      #expect(!printed.text.contains(" \(words)"), "\(words)")
    }
  }
}
