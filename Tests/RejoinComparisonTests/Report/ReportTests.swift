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
    #expect(
      try report(nil).text(.json) == """
        {"episodes":1,"strategies":[{"name":"recordByDeviceTime","episodes":1,\
        "lossless":0,"excess":0,"unrecoverable":0,"counterUnits":1200,\
        "addsLost":0,"removesUndone":0,"recordsWrong":0,"neverAgree":0},\
        {"name":"rejoin","episodes":1,"lossless":1,"excess":0,\
        "unrecoverable":0,"counterUnits":0,"addsLost":0,"removesUndone":0,\
        "recordsWrong":0,"neverAgree":0}]}

        """)
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

  @Test func theTablePutsThePersonBesideAll() throws {
    let text = try report(.record(["steps": .count(7000)])).text(.table)
    #expect(text.contains("fields: all  person  records: all  person"))
    #expect(text.contains("100.0%"))
    #expect(text.contains("partly mechanical"))
    #expect(try !report(nil).text(.table).contains("person"))
  }

  @Test func markdownIsATable() throws {
    let lines = try report(nil).text(.markdown).split(separator: "\n")
    #expect(lines[0].hasPrefix("| strategy | lossless |"))
    #expect(lines[1].hasPrefix("| --- | --: |"))
    #expect(lines[2].hasPrefix("| recordByDeviceTime | 0/1 |"))
  }

  @Test func columnsAreAligned() throws {
    let lines = try report(nil).text(.table).split(separator: "\n")
    #expect(Set(lines[0...2].map(\.count)).count == 1)
  }
}
