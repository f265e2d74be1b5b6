// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite struct RecordIDTests {
  @Test func orderComparesEntitiesBeforeKeys() {
    let ids = [
      RecordID("A", "b"), RecordID("AB", ""), RecordID("B", "a"),
      RecordID("B", "e\u{301}"), RecordID("B", "\u{e9}"),
      RecordID("e\u{301}", "a"), RecordID("\u{e9}", "a"),
    ]
    for (i, a) in ids.enumerated() {
      for (j, b) in ids.enumerated() {
        #expect((a < b) == (i < j), "\(a) \(b)")
        #expect((a == b) == (i == j), "\(a) \(b)")
      }
    }
    #expect(Set(ids).count == ids.count)
  }

  @Test func equalityDistinguishesEntityFromKey() {
    #expect(RecordID("ab", "c") != RecordID("a", "bc"))
    #expect(Set([RecordID("ab", "c"), RecordID("a", "bc")]).count == 2)
  }

  @Test func descriptionShowsEntityAndKey() {
    #expect("\(RecordID("Profile", "ada"))" == "Profile/ada")
  }
}
