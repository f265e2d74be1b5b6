// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct ImportingExistingDataArticle {
  struct Customer: Entity {
    let name = register("name", of: String.self)
  }

  private let phone = Replica.ofArticle(1, [Profile.self, Customer.self])

  @Test func importingTwiceCountsRowsOnce() throws {
    let oldRows: [(key: String, name: String, steps: Int64)] = [
      ("ada", "Ada", 1200), ("grace", "Grace", 800),
    ]
    for _ in 1...2 {
      try phone.importRows { transaction in
        for row in oldRows {
          transaction[Profile.self, row.key].name = row.name
          transaction[Profile.self, row.key].steps.increment(by: row.steps)
        }
      }
      #expect(phone[Profile.self, "ada"]?.steps == 1200)
    }
  }

  @Test func pullingWritesRow() throws {
    let row = (key: "1", name: "Ada", modified: Int64(5))
    try phone.importRows(from: "crm", modifiedAt: row.modified) { transaction in
      transaction[Customer.self, row.key].name = row.name
    }
    #expect(phone[Customer.self, "1"]?.name == "Ada")
  }
}
