// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RejoinCommand

@Suite struct ArgumentsTests {
  private let command = Command(
    name: "test", purpose: "", usage: "", discussion: "",
    sections: [
      .init(
        title: "",
        options: [
          .init("seed", "N", ""), .init("format", "F", ""),
          .init("with", "W", "", isRepeatable: true), .init(flag: "all", ""),
        ])
    ], examples: [], run: { _ in })

  private func parse(_ words: String...) throws(CommandError) -> Arguments {
    try Arguments(words, of: command)
  }

  @Test func parsingSeparatesOptionsFlagsAndOperands() throws {
    let arguments = try parse(
      "a", "--seed", "7", "--format=json", "--all", "-h", "--", "--b")
    #expect(arguments.operands == ["a", "--b"])
    #expect(arguments.value("format") == "json")
    #expect(arguments.has("all") && arguments.isHelp)
    #expect(try arguments.integer("seed", in: 0...9) == 7)
  }

  @Test(arguments: [
    ["--sed", "1"], ["--seed"], ["--seed", "1", "--seed", "2"], ["-x"],
    ["--help=1"], ["--all=1"],
  ])
  func parsingRefusesBadOptions(words: [String]) {
    let error = #expect(throws: CommandError.self) {
      try Arguments(words, of: command)
    }
    #expect(error?.exitCode == 2)
  }

  @Test(arguments: ["x", "-1", "10", "1.5", ""])
  func integerRefusesNumberOutOfRange(text: String) throws {
    let arguments = try parse("--seed=\(text)")
    #expect(throws: CommandError.self) {
      try arguments.integer("seed", in: 0...9)
    }
  }

  @Test(arguments: [
    ["--strategies", "lww"], ["--format", "xml"], ["--episodes", "0"],
    ["--seed", "1", "file"],
  ])
  func compareRefusesBadOptions(words: [String]) throws {
    let arguments = try Arguments(words, of: CompareCommand.command)
    let error = #expect(throws: CommandError.self) {
      try CompareCommand(arguments)
    }
    #expect(error?.exitCode == 2)
  }

  @Test func compareAcceptsSmallestParameters() throws {
    let words = [
      "--seed", "0", "--episodes", "1", "--devices", "1", "--edits", "0",
      "--fields", "1", "--contact", "0", "--skew", "0",
    ]
    _ = try CompareCommand(Arguments(words, of: CompareCommand.command))
  }

  @Test func compareFailsForMissingFile() throws {
    let arguments = try Arguments(
      ["no/such/file"], of: CompareCommand.command)
    let error = #expect(throws: CommandError.self) {
      try CompareCommand(arguments).run()
    }
    #expect(error?.exitCode == 1)
  }

  @Test func parsingRepeatsOnlyRepeatableOptions() throws {
    #expect(try parse("--with", "a", "--with=b").values("with") == ["a", "b"])
  }
}
