// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct GivingRecordsUniqueIDsArticle {
  struct Book: Entity {
    let title = register("title", of: String.self)
    let copies = counter("copies")
  }

  struct Contact: Entity {
    let name = register("name", of: String.self)
    let visits = counter("visits")
    let tags = set("tags", of: String.self)
    let partner = toOne("partner", Contact.self)
  }

  /// Contacts whose deletion wins over a concurrent update.
  struct Guest: Entity {
    let deletions = DeletionRule.deleteWins
    let visits = counter("visits")
  }

  private let phone = Replica.ofArticle(
    1, [Book.self, Contact.self, Guest.self])
  private let tablet = Replica.ofArticle(
    2, [Book.self, Contact.self, Guest.self])

  @Test func equalKeysCreateOneRecord() throws {
    let book = RecordID("Book", key: "9780262033848")
    #expect(book.key == "s13:9780262033848")
    #expect(RecordID("Seat", key: 12, "A").key == "i2:12s1:A")

    try phone.save { $0[Book.self, book.key].title = "Algorithms" }
    try tablet.save { $0[Book.self, book.key].copies.increment() }
    phone.merge(tablet)
    tablet.merge(phone)

    #expect(phone.recordCount(of: "Book") == 1)
    #expect(phone[Book.self, book.key]?.title == "Algorithms")
    #expect(phone[Book.self, book.key]?.copies == 1)
  }

  @Test func unitingMovesContentToOneRecord() throws {
    try createTwo()
    try phone.save { transaction in
      let kept = transaction[Contact.self, "1"]
      let other = transaction[Contact.self, "2"]
      if kept.name == nil { kept.name = other.name }
      kept.visits.increment(by: other.visits.value)
      for tag in other.tags.elements { kept.tags.insert(tag) }
      other.visits.reset()
      other.delete()
    }
    #expect(phone[Contact.self, "1"]?.name == "Ada")
    #expect(phone[Contact.self, "1"]?.visits == 5)
    #expect(phone[Contact.self, "1"]?.tags == ["family", "work"])
    #expect(phone[Contact.self, "2"] == nil)
  }

  @Test func referenceToDeletedRecordReadsAsUnset() throws {
    try createTwo()
    try phone.save { $0[Contact.self, "3"].partner = Reference("2") }
    try unite(on: phone)
    #expect(phone[Contact.self, "3"]?.partner == nil)
  }

  @Test func unitingAgainCountsLaterVisitsOnce() throws {
    try createTwo()
    try unite(on: phone)
    try tablet.save { $0[Contact.self, "2"].visits.increment(by: 10) }
    phone.merge(tablet)
    #expect(phone[Contact.self, "2"]?.visits == 10)
    try unite(on: phone)
    #expect(phone[Contact.self, "1"]?.visits == 15)
    #expect(phone[Contact.self, "2"] == nil)
  }

  @Test func editOfDeletedRecordIsNotShownIfDeletionWins() throws {
    try phone.save { $0[Guest.self, "2"].visits.increment() }
    tablet.merge(phone)
    try phone.save { $0[Guest.self, "2"].delete() }
    try tablet.save { $0[Guest.self, "2"].visits.increment() }
    phone.merge(tablet)
    #expect(phone[Guest.self, "2"] == nil)
  }

  @Test func unitingOnTwoDevicesCountsVisitsTwice() throws {
    try createTwo()
    try unite(on: phone)
    try unite(on: tablet)
    phone.merge(tablet)
    #expect(phone[Contact.self, "1"]?.visits == 7)
    #expect(phone[Contact.self, "2"] == nil)
  }

  @Test func keepingDifferentRecordsKeepsBothOrNone() throws {
    try createTwo()
    try unite(on: phone)
    try unite(on: tablet, keeping: "2", deleting: "1")
    phone.merge(tablet)
    #expect(phone.recordCount(of: "Contact") == 2)

    try phone.save { transaction in
      for id in ["1", "2"] { transaction[Guest.self, id].visits.increment() }
    }
    tablet.merge(phone)
    for (replica, kept, other) in [(phone, "1", "2"), (tablet, "2", "1")] {
      try replica.save { transaction in
        transaction[Guest.self, kept].visits.increment()
        transaction[Guest.self, other].delete()
      }
    }
    phone.merge(tablet)
    #expect(phone.recordCount(of: "Guest") == 0)
  }

  /// Creates two contacts on both devices.
  private func createTwo() throws {
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
    tablet.merge(phone)
  }

  private func unite(
    on replica: Replica, keeping first: String = "1",
    deleting second: String = "2"
  ) throws {
    try replica.save { transaction in
      let other = transaction[Contact.self, second]
      transaction[Contact.self, first].visits
        .increment(by: other.visits.value)
      other.visits.reset()
      other.delete()
    }
  }
}
