// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct EpisodeFileTests {
  private func error(
    _ text: String, _ location: SourceLocation = #_sourceLocation
  ) throws -> EpisodeFileError {
    try #require(throws: EpisodeFileError.self, sourceLocation: location) {
      try EpisodeFile.episodes(in: text, file: "f.jsonl")
    }
  }

  @Test func episodeFileReadsEveryKey() throws {
    let text = #"""
      {"id":"e1","base":{"a":1,"b":1.0,"c":true,"d":null,"t":["x"],"n":7},
      "kinds":{"t":"set","n":"counter"},"arrival":["q","p"],
      "edits":[{"device":"p","at":5,"set":{"a":"é\n"},"clear":["b"]},
      {"device":"q","at":6,"insert":{"t":[]},"remove":{"t":["x"]},
      "increment":{"n":-2}},{"device":"q","at":7,"delete":true}],
      "resolution":null,"resolvedBy":"wholeFile","group":"merge","source":"s"}
      """#.split(separator: "\n").joined()
    let episode = try #require(
      EpisodeFile.episodes(in: "\n" + text + "\r\n\n", file: "f").first)
    #expect(
      episode.base == [
        "a": .value(.int(1)), "b": .value(.double(1)),
        "c": .value(.bool(true)), "d": .value(.null), "t": .texts("x"),
        "n": .count(7),
      ])
    #expect(episode.devices == ["q", "p"])
    #expect(episode.edits[0].set == ["a": "é\n"])
    #expect(episode.edits[0].clear == ["b"])
    #expect(episode.edits[1].insert == ["t": []])
    #expect(episode.edits[1].remove == ["t": ["x"]])
    #expect(episode.edits[1].increment == ["n": -2])
    #expect(episode.edits[2].isDeletion)
    #expect(episode.resolution == .deleted)
    #expect(episode.resolvedBy == .wholeFile)
  }

  @Test func earlierEditsAndRepeatedArrivalsAreKept() throws {
    let line =
      #"{"arrival":["a","b","a"],"base":{"x":2},"#
      + #""earlier":[{"at":1,"device":"a","set":{"x":1}},"#
      + #"{"at":2,"device":"b","set":{"x":2}}],"#
      + #""edits":[{"at":3,"device":"a","set":{"x":3}}],"id":"e"}"#
    let episode = try #require(
      EpisodeFile.episodes(in: line, file: "f").first)
    #expect(episode.devices == ["a", "b"])
    #expect(episode.repeatedArrivals == ["a"])
    #expect(episode.earlier.map(\.device) == ["a", "b"])
    #expect(episode.arrivingReversed.arrival == ["b", "a", "a"])
    #expect(episode.line(isAnswered: true) == line)
    // Rejoin's devices receive the earlier edits, and `a` arrives twice.
    let outcome = try RejoinContender().outcome(of: episode)
    let shown: PlainRecord? = ["x": .value(.int(3))]
    #expect(outcome.states == [shown, shown])
  }

  @Test func missingResolutionDiffersFromNull() throws {
    let episodes = try EpisodeFile.episodes(
      in: #"{"id":"e","base":null,"edits":[]}"#, file: "f")
    #expect(episodes.first?.resolution == nil)
    #expect(episodes.first?.base == nil)
  }

  @Test(arguments: [
    #""base":{"NAME":1},"edits":[]"#,
    #""base":null,"edits":[{"device":"p","at":1,"set":{"NAME":1}}]"#,
    #""base":null,"edits":[{"device":"p","at":1,"clear":["NAME"]}]"#,
    #""base":null,"arrival":["p"],"edits":[],"earlier":[{"device":"p","at":1,"#
      + #""set":{"NAME":1}},{"device":"p","at":2,"delete":true}]"#,
  ])
  func fieldNameTakesUpTo255Bytes(rest: String) throws {
    func text(_ count: Int) -> String {
      let name = String(repeating: "n", count: count)
      return "{\"id\":\"e\",\(rest)}".replacingOccurrences(
        of: "NAME", with: name)
    }
    let error = try error("\n" + text(256))
    #expect(error.code == .badName)
    #expect(error.line == 2)
    #expect(error.description.contains("256 bytes; shorten it to 255"))
    let episodes = try EpisodeFile.episodes(in: text(255), file: "f")
    _ = try Comparison(Strategies.all).run(episodes)
  }

  @Test func errorNamesLineAndColumnOfMalformedJSON() throws {
    let error = try error(
      #"{"id":"e","base":null,"edits":[]}"# + "\n\n{\"id\":,}")
    #expect(error.code == .malformed)
    #expect(error.line == 3)
    #expect(
      error.description == "f.jsonl:3: column 7: expected a value; "
        + "write one JSON object per line")
  }

  @Test(
    arguments: [
      (#"{"id":"e","base":{},"edits":[],"bas":1}"#, .unknownKey, "bas"),
      (
        #"{"id":"e","base":{},"edits":[{"device":"a","at":1,"put":1}]}"#,
        .unknownKey, "edits[0].put"
      ),
      (#"{"base":{},"edits":[]}"#, .missingKey, "id"),
      (#"{"id":"e","edits":[]}"#, .missingKey, "base"),
      (
        #"{"id":"e","base":{},"edits":[{"device":"a"}]}"#, .missingKey,
        "edits[0].at"
      ),
      (#"{"id":1,"base":{},"edits":[]}"#, .wrongType, "id"),
      (#"{"id":"e","base":{"x":[1]},"edits":[]}"#, .wrongType, "base.x"),
      (
        #"{"id":"e","base":{},"edits":[{"device":"a","at":1.5}]}"#, .wrongType,
        "edits[0].at"
      ),
      (
        #"{"id":"e","base":{"n":true},"kinds":{"n":"counter"},"edits":[]}"#,
        .wrongType, "base.n"
      ),
      (
        #"{"id":"e","base":{},"kinds":{"n":"list"},"edits":[]}"#, .unknownKind,
        "kinds.n"
      ),
      (
        #"{"id":"e","base":{},"edits":[],"resolvedBy":"me"}"#,
        .unknownResolver, "resolvedBy"
      ),
      (
        #"{"id":"e","base":{},"edits":[{"device":"a","at":1,"#
          + #""insert":{"t":["x"]}}]}"#, .contradiction, "edits[0].insert.t"
      ),
      (
        #"{"id":"e","base":{},"edits":[{"device":"a","at":1,"#
          + #""delete":true,"clear":["x"]}]}"#, .contradiction,
        "edits[0].delete"
      ),
      (
        #"{"id":"e","base":{},"edits":[{"device":"a","at":1}],"arrival":[]}"#,
        .contradiction, "arrival"
      ),
      (
        #"{"id":"e","base":null,"edits":[],"arrival":["b"],"#
          + #""earlier":[{"device":"a","at":1,"set":{"x":1}},"#
          + #"{"device":"b","at":2,"delete":true}]}"#,
        .contradiction, "earlier"
      ),
      (
        #"{"id":"e","base":null,"edits":[],"arrival":["a"],"#
          + #""earlier":[{"device":"a","at":1,"set":{"x":1}}]}"#,
        .contradiction, "base"
      ),
    ] as [(String, EpisodeFileError.Code, String)])
  func errorNamesKey(
    line: String, code: EpisodeFileError.Code, key: String
  ) throws {
    let error = try error(line)
    #expect(error.code == code)
    #expect(error.key == key)
    #expect(error.line == 1)
    #expect(!error.remedy.isEmpty)
  }

  @Test func episodesWithEqualNamesAreRefused() throws {
    let line = #"{"id":"e","base":null,"edits":[]}"#
    let error = try error(line + "\n" + line)
    #expect(error.code == .duplicateID)
    #expect(error.line == 2)
    #expect(error.problem.contains("line 1"))
  }
}
