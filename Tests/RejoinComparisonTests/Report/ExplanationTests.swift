// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct ExplanationTests {
  @Test func explanationListsEditsOutcomesAndReasons() throws {
    let strategies = ["recordByDeviceTime", "pendingChanges", "rejoin"]
      .compactMap(Strategies.named)
    let text = try Explanation(WorkedExample.person.episode, strategies).text()
    for line in [
      "Episode person",
      #"  phone "(212) 555-1212""#,
      #"  1 s later: here sets name to "Taylor Jones"; sets phone to "#
        + #""1-800-275-2273""#,
      "Where they met, none had seen what the others did:",
      "They sync in this order: there, here",
      "recordByDeviceTime: the whole record with the latest wall-clock time wins",
      #"  address shows "123 Main St", not "123 Sesame St" (lost)"#,
      #"  phone shows "1-800-275-2273", not "(650) 253-0000" (lost)"#,
      #"  still listed for phone: "1-800-275-2273""#,
      "  lost: 2 changes", "  lost: nothing",
    ] {
      #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
    }
  }

  @Test func exampleReportShowsEveryStrategy() throws {
    let text = try ExampleReport(.steps).text(.table)
    #expect(text.contains("steps 5,800"))
    #expect(text.contains("steps 6,200"))
    #expect(text.contains("steps 7,000"))
    let words = text.split { " \n".contains($0) }.joined(separator: " ")
    for strategy in Strategies.all {
      #expect(words.contains(strategy.name))
    }
  }
}
