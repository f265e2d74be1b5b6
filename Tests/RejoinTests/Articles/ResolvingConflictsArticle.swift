// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct ResolvingConflictsArticle {
  private let phone = Replica.ofArticle(1, [Profile.self])
  private let tablet = Replica.ofArticle(2, [Profile.self])

  @Test func article() throws {
    try phone.save { $0[Profile.self, "ada"].name = "Ada" }
    try tablet.save { $0[Profile.self, "ada"].name = "Ada L." }
    let report = phone.merge(tablet)

    #expect(phone[Profile.self, "ada"]?.name == "Ada L.")
    #expect(
      phone[Profile.self, "ada"]?.conflictingValues(of: \.name) == ["Ada"])

    #expect(
      phone.conflictedFields(of: Profile.self).map(\.record.key) == ["ada"])

    let shown = phone[Profile.self, "ada"]?.write(of: \.name)
    #expect(shown?.dot == Dot(tablet.device, 1))
    let writes = phone[Profile.self, "ada"]?.writes(of: \.name)
    #expect(writes?.map(\.value) == ["Ada L.", "Ada"])

    try #require(report.conflicts.count == 1)
    let conflict = report.conflicts[0]
    #expect(conflict.winner.value == "Ada L.")
    #expect(conflict.loser.value == "Ada")
    #expect(!conflict.localWon)
    #expect(conflict.reason == .device)

    try phone.save { $0[Profile.self, "ada"].name = "Ada Lovelace" }
    tablet.merge(phone)
    #expect(tablet[Profile.self, "ada"]?.name == "Ada Lovelace")
    #expect(tablet[Profile.self, "ada"]?.conflictingValues(of: \.name) == [])

    try tablet.save { $0[Profile.self, "ada"].delete() }
    try phone.save { $0[Profile.self, "ada"].steps.increment(by: 100) }
    let met = tablet.merge(phone).deletionConflicts[0]

    #expect(met.deletions.map(\.dot) == [Dot(tablet.device, 2)])
    #expect(met.edits == [Dot(phone.device, 3)])
    #expect(met.exists)
    #expect(tablet[Profile.self, "ada"]?.name == "Ada Lovelace")
  }
}
