// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct RecoveringMissingSavesArticle {
  private let phone = Replica.ofArticle(1, [Profile.self])
  private let tablet = Replica.ofArticle(2, [Profile.self])

  @Test func article() throws {
    try phone.save { $0[Profile.self, "ada"].name = "Ada" }
    let afterFirst = phone.version
    try phone.save { $0[Profile.self, "grace"].name = "Grace" }

    // Meant for a device that has the first save already.
    if let delta = phone.delta(since: afterFirst) {
      let report = tablet.apply(delta)
      try #require(report.gaps.count == 1)
      let gap = report.gaps[0]
      #expect(gap.device == phone.device)
      #expect(gap.lastHeldSave == 0)
      #expect(gap.lastAssumedSave == 1)
    }
    #expect(tablet[Profile.self, "grace"]?.name == "Grace")
    #expect(tablet[Profile.self, "ada"]?.name == nil)

    #expect(tablet.latestMissingSaves == [phone.device: 2])
    if let delta = phone.delta(since: tablet.version) {
      let report = tablet.apply(delta)
      #expect(!report.hasFaults)
    }
    #expect(tablet.latestMissingSaves.isEmpty)
  }
}
