// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinComparison
import Testing

struct ReadOnly: Contender {
  let name = "readOnly"
  let rule = "no edit is applied"

  func outcome(of episode: Episode) -> Outcome {
    Outcome(everywhere: episode.base)
  }
}

/// Compiles the code of the landing page, block by block, and checks its
/// results.
@Suite struct ArticleTests {
  @Test func resultsEqualThoseOfPage() throws {
    var phone = Episode.Edit("phone", at: 1000)
    phone.increment = ["steps": 1200]
    var watch = Episode.Edit("watch", at: 2000)
    watch.increment = ["steps": 800]
    let episode = Episode(
      id: "steps", base: ["steps": .count(5000)], kinds: ["steps": .counter],
      edits: [phone, watch])

    let result = try Comparison(Strategies.usual).run([episode])
    let lossless = result.strategies.filter(\.losses.isLossless).map(\.name)
    // ["rejoin + mergeByPropertyObjectTrump", "handler.threeWay", "rejoin"]
    #expect(
      lossless == [
        "rejoin + mergeByPropertyObjectTrump", "handler.threeWay", "rejoin",
      ])

    let strategies = ["fieldByTime", "rejoin"].compactMap(Strategies.named)
    let text = try Explanation(episode, strategies).text()
    #expect(
      try page.contains("```\n\(text)```"), "the page must show:\n\(text)")

    let list = Strategies.all.map {
      "- `\($0.name)`: \($0.rule) (\($0.source))\n"
    }.joined()
    #expect(try page.contains(list), "the page must have:\n\(list)")

    let own = try Comparison([ReadOnly()]).run([episode])
    let units = own.strategies[0].losses.counterUnits  // 2000
    #expect(units == 2000)
  }

  @Test func pageCodeIsCompiled() throws {
    let code = try lines(
      String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    let blocks = try page.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(!blocks.isEmpty)
    for block in blocks where !code.contains(lines(block)) {
      Issue.record("the page has code that is not in this file:\n\(block)")
    }
  }

  private var page: String {
    get throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let path = "Sources/RejoinComparison/RejoinComparison.docc"
      return try String(
        contentsOf: root.appending(path: "\(path)/RejoinComparison.md"),
        encoding: .utf8)
    }
  }

  /// Returns the lines without indentation, because the code is in functions.
  private func lines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.drop { $0 == " " } }.joined(separator: "\n")
  }
}
