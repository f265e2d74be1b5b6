// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification
import Testing

@Suite struct CallExplorerTests {
  @Test func everyOrderOfMessagesAndFaultsSyncs() async throws {
    let limit = Tier.isNightly ? 800_000 : 60_000
    let counts = try await withThrowingTaskGroup(of: CallExplorerCounts.self) {
      group in
      for program in Tier.isNightly ? CallProgram.nightly : CallProgram.quick {
        group.addTask {
          var explorer = CallExplorer(program)
          return try explorer.search(atMost: limit)
        }
      }
      return try await group.reduce(into: CallExplorerCounts()) { $0 += $1 }
    }
    print("explorer of calls: \(counts)")
    #expect(counts.configurations >= 300_000)
    let events = [
      "continued transfers": counts.continued,
      "wrong hints": counts.wrongHints,
      "answers taken for a later request": counts.takenForLater,
      "parts that moved nothing": counts.useless,
      "falls": counts.falls, "second falls": counts.secondFalls,
      "parts after a refusal": counts.downloadsAfterRefusal,
      "losses after a part": counts.lostAfterPart,
      "calls in both directions": counts.bothAsking,
      "echoes": counts.echoed, "restores": counts.restored,
    ]
    for (event, count) in events { #expect(count >= 500, "\(event)") }
  }

  @Test func limitStopsSearch() throws {
    var explorer = CallExplorer(CallProgram.quick[0])
    let counts = try explorer.search(atMost: 100)
    #expect(counts.configurations == 100)
    #expect(!counts.isComplete)
  }
}
