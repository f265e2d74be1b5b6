// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct ReportTests {
  private func report(_ resolution: Episode.Resolution?) throws -> Report {
    var episode = WorkedExample.steps.episode
    episode.resolution = resolution
    episode.resolvedBy = .person
    let strategies = ["recordByDeviceTime", "rejoin"].compactMap(
      Strategies.named)
    return Report(try Comparison(strategies).run([episode]))
  }

  @Test func jsonWithoutResolutionsHasNoAgreement() throws {
    let rule = try #require(Strategies.named("rejoin")).rule
    let text = try report(nil).text(.json)
    #expect(
      text.hasSuffix(
        """
        {"name":"rejoin","rule":"\(rule)","episodes":1,"lossless":1,\
        "losslessIfDeletionsWin":1,"plainEpisodes":1,"plainLossless":1,\
        "lost":0,"silentlyLost":0,"excess":0,"onlyReported":0,\
        "unrecoverable":0,"counterUnits":0,"addsLost":0,"removesUndone":0,\
        "recordsWrong":0,"neverAgree":0}]}

        """))
    #expect(
      text.contains(
        #""lost":1,"silentlyLost":1,"excess":0,"onlyReported":0,"#
          + #""unrecoverable":0,"counterUnits":1200,"#))
  }

  @Test func jsonWithResolutionsHasShares() throws {
    let text = try report(.record(["steps": .count(7000)])).text(.json)
    #expect(
      text.contains(
        #""agreement":{"all":{"fields":0.0,"records":0.0},"#
          + #""person":{"fields":0.0,"records":0.0}}"#))
    #expect(text.contains(#""all":{"fields":1.0,"records":1.0}"#))
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    #expect(object is [String: Any])
  }

  @Test func aTableIsColouredOnlyIfAsked() throws {
    let report = try report(nil)
    #expect(!report.text(.table).contains("\u{1b}"))
    #expect(report.text(.table, colours: true).contains("\u{1b}[31m"))
    #expect(!report.text(.markdown, colours: true).contains("\u{1b}"))
  }

  @Test func theWholeTablePutsThePersonBesideAll() throws {
    let result = try report(.record(["steps": .count(7000)])).result
    let text = Report(result, isWhole: true).text(.table)
    #expect(text.contains("fields: all  person  records: all  person"))
    #expect(text.contains("100.0%"))
    #expect(text.contains("partly mechanical"))
    #expect(text.contains("rejoin: a write supersedes"))
    #expect(try !report(nil).text(.table).contains("person"))
  }

  @Test func markdownIsATable() throws {
    let lines = try report(nil).text(.markdown).split(separator: "\n")
    #expect(lines[0].hasPrefix("| strategy | edits lost |"))
    #expect(lines[1].hasPrefix("| --- | --: |"))
    #expect(lines[2].hasPrefix("| recordByDeviceTime | 1 | 1 |"))
  }

  /// Rows that are equal are one, and no line is too long for a terminal.
  @Test func equalRowsAreOneAndLinesAreShort() throws {
    for (strategies, isWhole) in [
      (Strategies.usual, false), (Strategies.all, false),
    ] {
      for example in WorkedExample.all {
        let text = try ExampleReport(example, strategies).text(.table)
        for line in text.split(separator: "\n") {
          #expect(line.count <= 80, "\(line)")
        }
      }
      for workload in [Workload.calm, .hostile] {
        var workload = workload
        workload.episodes = 10
        let result = try Comparison(strategies).run(workload.generate())
        let text = Report(result, isWhole: isWhole).text(.table)
        for line in text.split(separator: "\n") {
          #expect(line.count <= 80, "\(line)")
        }
      }
    }
    let steps = try Comparison(Strategies.usual)
      .run([WorkedExample.steps.episode])
    #expect(Report(steps).text(.table).contains("handler.threeWay, rejoin "))
  }

  @Test func columnsAreAligned() throws {
    let lines = try report(nil).text(.table).split(separator: "\n")
    #expect(Set(lines[0...2].map(\.count)).count == 1)
  }
}
