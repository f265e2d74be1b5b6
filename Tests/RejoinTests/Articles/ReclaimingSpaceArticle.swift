// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct ReclaimingSpaceArticle {
  struct Account: Entity {
    let owner = register("owner", of: String.self)
    let balance = ledger("balance")
  }

  private let phone = Replica.ofArticle(1, [Account.self])
  private let tablet = Replica.ofArticle(2, [Account.self])

  @Test func article() throws {
    try phone.save { transaction in
      transaction[Account.self, "ada"].balance.append(30, memo: "book")
      transaction[Account.self, "bob"].owner = "Bob"
    }
    try phone.save { $0[Account.self, "bob"].delete() }

    try phone.enroll(tablet.device)
    for _ in 1...3 {
      tablet.merge(phone)
      phone.merge(tablet)
    }
    #expect(phone.stabilityCut == phone.version.vectorClock)

    let bob = RecordID("Account", "bob")
    #expect(try phone.purgeDeletedRecords().announcedRecords == [bob])
    #expect(phone.record(bob)?.value(of: FieldKey("owner", .register)) == "Bob")

    for _ in 1...3 {
      tablet.merge(phone)
      phone.merge(tablet)
    }
    #expect(try phone.purgeDeletedRecords().droppedRecords == [bob])
    #expect(phone.record(bob)?.value(of: FieldKey("owner", .register)) == nil)

    #expect(phone.foldLedgers() == 1)
    #expect(phone[Account.self, "ada"]?.balance == 30)
    let ada = phone.record(RecordID("Account", "ada"))
    #expect(ada?.entries(of: FieldKey("balance", .ledger)) == [])
  }
}
