// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct UniqueIDsArticle {
  struct Contact: Entity {
    let name = register("name", of: String.self)
    let visits = counter("visits")
    let tags = set("tags", of: String.self)
  }

  private let phone = Replica.ofArticle(1, [Contact.self])
  private let tablet = Replica.ofArticle(2, [Contact.self])

  @Test func idsFromKeys() throws {
    let ada = RecordID("Contact", key: "ada@example.com")
    #expect(ada.key == "s15:ada@example.com")
    #expect(RecordID("Seat", key: 12, "A").key == "i2:12s1:A")

    try phone.save { $0[Contact.self, ada.key].name = "Ada" }
    try tablet.save { $0[Contact.self, ada.key].visits.increment() }
    phone.merge(tablet)
    tablet.merge(phone)

    #expect(phone.recordCount(of: "Contact") == 1)
    #expect(phone[Contact.self, ada.key]?.name == "Ada")
    #expect(phone[Contact.self, ada.key]?.visits == 1)
  }

  @Test func uniting() throws {
    try phone.save { transaction in
      transaction[Contact.self, "1"].visits.increment(by: 3)
      transaction[Contact.self, "1"].tags.insert("work")
    }
    try tablet.save { transaction in
      transaction[Contact.self, "2"].name = "Ada"
      transaction[Contact.self, "2"].visits.increment(by: 2)
      transaction[Contact.self, "2"].tags.insert("family")
    }
    phone.merge(tablet)

    try phone.save { transaction in
      let kept = transaction[Contact.self, "1"]
      let other = transaction[Contact.self, "2"]
      if kept.name == nil { kept.name = other.name }
      kept.visits.increment(by: other.visits.value)
      for tag in other.tags.elements { kept.tags.insert(tag) }
      other.delete()
    }
    #expect(phone[Contact.self, "1"]?.visits == 5)
    #expect(phone[Contact.self, "1"]?.tags == ["family", "work"])
    #expect(phone[Contact.self, "2"] == nil)
    #expect(phone[Contact.self, "1"]?.name == "Ada")
  }
}
