// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct ReportTests {
  private func result(
    _ resolution: Episode.Resolution? = nil
  ) throws -> RejoinComparison.ComparisonResult {
    var episode = WorkedExample.steps.episode
    episode.resolution = resolution
    episode.resolvedBy = .person
    let strategies = ["recordByDeviceTime", "rejoin"].compactMap(
      Strategies.named)
    return try Comparison(strategies).run([episode])
  }

  @Test func tableIsColoredOnlyIfAsked() throws {
    let report = Report(try result())
    #expect(!report.text(.table).contains("\u{1b}"))
    #expect(report.text(.table, colors: true).contains("\u{1b}[31m"))
    #expect(!report.text(.markdown, colors: true).contains("\u{1b}"))
  }

  /// A record with two changes loses one of them.
  @Test func markdownRendersTable() throws {
    #expect(
      Report(try result()).table.markdown() == """
        | strategy | changes lost of 2 | records with a loss, of 1 | loss if \
        deletion should win |
        | --- | --: | --: | --: |
        | recordByDeviceTime | 1 (50.0%) | 1 (100.0%) | 1 (100.0%) |
        | rejoin | 0 (0.0%) | 0 (0.0%) | 0 (0.0%) |

        """)
  }

  @Test func redundantColumnsBecomeSentences() throws {
    let report = Report(
      try result(.record(["steps": .count(7000)])), isWhole: true)
    let header = report.table.header.map(\.onOneLine)
    #expect(header.contains("counter units"))
    #expect(!header.contains("waiting") && !header.contains("elements missing"))
    let text = report.text(.table).replacing("\n", with: " ")
    #expect(text.contains("No device is blocked."))
    #expect(
      text.contains(
        "The column \"by hand, of 1\" equals \"fields as people left them, of "
          + "1\"."))
    #expect(text.contains("equals \"changes lost of 2\"."))
    #expect(text.contains("rejoin: a write supersedes"))
  }

  /// The formats are text for a terminal, Markdown, the page and JSON.
  @Test func figuresAreEqualInEveryFormat() throws {
    var workload = Workload.hostile
    workload.episodes = 60
    let subject = Subject.generated(name: "hostile", workload)
    let result = try Comparison(Strategies.all).run(workload.generate())
    let table = Report(result, of: subject).table
    let markdown = table.markdown()
    let page = try Page([(subject, result)], episode: nil).html()
    var json = ComparisonJSON()
    json.add(result, of: subject, verdicts: [])
    let document = try #require(
      JSONSerialization.jsonObject(with: Data(json.document.utf8))
        as? [String: Any])
    let comparison = try #require(
      (document["comparisons"] as? [[String: Any]])?.first)
    let strategies = try #require(comparison["strategies"] as? [[String: Any]])
    let aligned = table.aligned(colors: false)
      .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    for strategy in strategies {
      let name = try #require(strategy["name"] as? String)
      func count(_ rule: String, _ key: String) throws -> Int {
        try #require((strategy[rule] as? [String: Any])?[key] as? Int)
      }
      let cells = [
        (try count("losses", "lost"), try count("losses", "changes")),
        (try count("losses", "withLoss"), try count("losses", "episodes")),
        (
          try count("ifDeletionsWin", "withLoss"),
          try count("ifDeletionsWin", "episodes")
        ),
        (try count("losses", "waiting"), try count("losses", "changes")),
      ].map { "\($0.0.grouped) (\($0.0.percent(of: $0.1)))" }
      let row = try #require(
        table.rows.first {
          $0[0].text.components(separatedBy: ", ").contains(name)
        })
      #expect(row.dropFirst().map(\.text) == cells, "\(name)")
      #expect(
        markdown.contains(
          "| \(row[0].text) | \(cells.joined(separator: " | ")) |\n"))
      #expect(
        aligned.contains {
          $0.suffix(8).joined(separator: " ")
            == cells.joined(separator: " ")
        }, "\(name)")
      #expect(page.contains("<td>\(row[0].text)</td><td>\(cells[0])</td>"))
    }
  }

  /// The totals of a file of episodes depend on its groups.
  @Test func groupsOtherThanMergeDoNotCount() {
    var episode = WorkedExample.steps.episode
    #expect(episode.countsInTotals)
    episode.group = "merge"
    #expect(episode.countsInTotals)
    episode.group = "tally"
    #expect(!episode.countsInTotals)
  }

  /// Every line fits into a terminal.
  @Test func greatestSeedHasRuns() {
    var workload = Workload.calm
    workload.seed = .max
    let seeds = Sensitivity.runs(of: workload, isRate: false).map(
      \.workload.seed)
    #expect(seeds == [.max, 0, 1])
  }

  @Test func linesAreShort() throws {
    for strategies in [Strategies.usual, Strategies.all] {
      for example in WorkedExample.all {
        let text = try ExampleReport(example, strategies).text(.table)
        for line in text.split(separator: "\n") {
          #expect(line.count <= 80, "\(line)")
        }
      }
      for workload in [Workload.calm, .busy, .hostile] {
        var workload = workload
        workload.episodes = 10
        let result = try Comparison(strategies, triesBothOrders: true)
          .run(workload.generate())
        for subject in [Subject.generated(name: "x", workload), .records] {
          let text = Report(result, of: subject).text(.table)
          for line in text.split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
          }
        }
      }
    }
  }

  /// Rows with equal figures are merged.
  @Test func equalRowsAreOne() throws {
    let steps = try Comparison(Strategies.usual)
      .run([WorkedExample.steps.episode])
    #expect(
      Report(steps).table.rows.map { $0[0].text } == [
        "recordByServerTime, CKSyncEngine sample, changedKeys, "
          + "container.mergeByPropertyObjectTrump",
        "rejoin + mergeByPropertyObjectTrump, handler.threeWay, rejoin",
      ])
  }

  @Test func headlineNamesUsualStrategies() throws {
    let result = try Comparison(Strategies.usual)
      .run([WorkedExample.person.episode])
    #expect(
      Headline(subject: .records, result: result).text
        == "In 1 record that several devices changed while apart, saving whole "
        + "records loses something in 1 of 1 (100.0%), saving changed fields in 1 "
        + "of 1 (100.0%). A handler that merges three versions field by field loses "
        + "nothing, and neither does Rejoin. That is what both are specified to do."
    )
  }
}
