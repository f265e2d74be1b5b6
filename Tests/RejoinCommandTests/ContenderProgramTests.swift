// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `rejoin compare --contender`, which accepts any program.
@Suite struct ContenderProgramTests {
  private let folder: Folder
  private let episodes: String

  init() throws {
    folder = try Folder()
    episodes = try folder.write(
      """
      {"id":"e1","base":{"n":3,"x":"old"},"kinds":{"n":"counter","t":"set"},\
      "edits":[{"device":"a","at":1,"increment":{"n":-1},"insert":{"t":["y"]}},\
      {"device":"b","at":2,"increment":{"n":-1},"set":{"x":"B"}}],\
      "resolution":{"n":1}}
      {"id":"e2","base":null,"edits":[{"device":"b","at":1,"set":{"x":1.5}},\
      {"device":"a","at":2,"set":{"x":null}},{"device":"a","at":3,"delete":true}]}

      """, to: "e.jsonl")
  }

  /// Returns a program that prints lines and keeps its input.
  private func program(_ lines: String...) throws -> String {
    let file = try folder.write(
      lines.map { $0 + "\n" }.joined(), to: "\(UUID()).jsonl")
    return "cat > '\(folder.url.path)/read.jsonl'; cat '\(file)'"
  }

  private let introduction =
    #"{"name":"mine","version":"2","rule":"the last device wins"}"#

  private func compare(_ command: String) throws -> Printed {
    try rejoin(
      "compare", episodes, "--format", "json", "--strategies", "rejoin",
      "--contender", command)
  }

  /// Each episode has both orders of arrival, and contenders do not see its
  /// resolution.
  @Test func programIsScoredLikeStrategy() throws {
    let ends = [
      #"{"id":"e1","record":{"n":2,"t":["y"],"x":"old"},"kept":{"x":["B"]}}"#,
      #"{"id":"e2","records":{"a":null,"b":{"x":1.5}}}"#,
    ]
    let printed = try compare(
      program(introduction, ends[0], ends[1], ends[0], ends[1]))
    #expect(printed.code == 0, "\(printed.text)")
    // One of two equal decrements is lost, and one of two devices lacks the
    // record.
    #expect(printed.counts(of: "mine") == [2, 2, 1])
    #expect(printed.counts(of: "rejoin") == [0, 0, 0])
    let read = try String(
      contentsOf: folder.url.appending(path: "read.jsonl"), encoding: .utf8
    )
    .split(separator: "\n")
    #expect(read.count == 4)
    #expect(read[0].contains(#""arrival":["a","b"]"#))
    #expect(read[2].contains(#""arrival":["b","a"]"#))
    #expect(!read.contains { $0.contains("resol") })
  }

  /// `compare` reads exported episodes, and their results are equal.
  @Test func exportedEpisodesAndEndingsCanBeRead() throws {
    let copy = folder.url.appending(path: "copy.jsonl").path
    #expect(try rejoin("compare", episodes, "--export", copy).code == 0)
    func result(_ file: String) throws -> String {
      try rejoin("compare", file, "--format", "json", "--all").text
    }
    #expect(try result(copy) == result(episodes))
    let endings = try rejoin(
      "compare", episodes, "--strategies", "pendingChanges", "--endings"
    ).text.split(separator: "\n").map(String.init)
    #expect(endings.count == 3)
    let printed = try compare(
      program(
        endings[0], endings[1], endings[2], endings[1], endings[2]))
    let model = try rejoin(
      "compare", episodes, "--format", "json", "--strategies",
      "pendingChanges")
    #expect(
      printed.counts(of: "pendingChanges")
        == model.counts(of: "pendingChanges"))
    #expect(model.counts(of: "pendingChanges") != nil)
  }

  /// A program lists an unset field as `null`, as the command does.
  @Test func unsetFieldIsListedAsNull() throws {
    let file = try folder.write(
      """
      {"id":"e","base":{"x":"old"},"edits":[{"device":"a","at":1,"clear":["x"]},\
      {"device":"b","at":2,"set":{"x":"new"}}]}

      """, to: "clear.jsonl")
    let ending = #"{"id":"e","kept":{"x":["new",null]},"record":{"x":"new"}}"#
    let printed = try rejoin(
      "compare", file, "--format", "json", "--strategies", "rejoin",
      "--contender", program(introduction, ending, ending))
    #expect(printed.counts(of: "mine") == [0, 0, 0], "\(printed.text)")
    let own = try rejoin(
      "compare", file, "--strategies", "rejoin", "--endings")
    #expect(own.text.contains(#""kept":{"x":["new",null]}"#), "\(own.text)")
  }

  @Test func faultIsNamedWithNumberOfEpisodes() throws {
    let ending = #"{"id":"e1","record":{"n":2,"t":["y"],"x":"B"}}"#
    let other = #"{"id":"e2","record":{"x":null}}"#
    let printed = try rejoin(
      "compare", episodes, "--strategies", "rejoin", "--contender",
      program(introduction, ending, other, ending, other))
    // The program cannot run on fewer episodes.
    #expect(printed.code == 0)
    #expect(printed.text.contains("In this run, the program failed: "))
    #expect(
      printed.text.contains(
        "`mine` loses or invents content on all devices in 2 episodes."),
      "\(printed.text)")
  }

  @Test func errorsNameLine() throws {
    let good = #"{"id":"e1","record":null}"#
    for (command, problem) in [
      ("cat > /dev/null", "wrote nothing"),
      ("exit 3", "ended with status 3"),
      (try program("{}"), "2: name: the key is missing"),
      (try program(introduction, good), "wrote 1 ending for 4 episodes"),
      (
        try program(introduction, good, good, good, good),
        #":3: id: found "e1"; write the ending of "e2""#
      ),
      (
        try program(
          introduction, #"{"id":"e1","record":{"n":"x"}}"#, good, good, good),
        ":2: record.n: found a string; write an integer"
      ),
      (
        try program(
          introduction, #"{"id":"e1","records":{"a":null}}"#, good, good, good),
        ":2: records.b: the key is missing"
      ),
      (try program("x", good, good, good, good), ":1: column 1"),
      (
        try program(
          introduction, #"{"id":"e1","record":null,"lost":1}"#, good, good, good
        ),
        ":2: lost: unknown key"
      ),
    ] {
      let printed = try compare(command)
      #expect(printed.code == 1, "\(command)")
      #expect(
        printed.text.contains(
          problem.replacing("2: name", with: "1: name")), "\(printed.text)")
    }
  }

  @Test func namesAreUnique() throws {
    let end = [
      #"{"id":"e1","record":null}"#, #"{"id":"e2","record":null}"#,
    ]
    let printed = try compare(
      program(
        introduction.replacing("mine", with: "rejoin"), end[0], end[1], end[0],
        end[1]))
    #expect(printed.code == 1)
    #expect(
      printed.text.contains("has the name \"rejoin\" of another strategy"))
  }

  @Test func severalProgramsCanRun() throws {
    let other = introduction.replacing("mine", with: "other")
    let end = [
      #"{"id":"e1","record":null}"#, #"{"id":"e2","record":null}"#,
    ]
    let printed = try rejoin(
      "compare", episodes, "--strategies", "rejoin", "--contender",
      program(introduction, end[0], end[1], end[0], end[1]), "--contender",
      program(other, end[0], end[1], end[0], end[1]))
    #expect(printed.text.contains("mine,\nother "), "\(printed.text)")
  }
}
