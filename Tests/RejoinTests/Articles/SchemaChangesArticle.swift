// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct SchemaChangesArticle {
  struct ItemV1: Entity {
    static let entityName = "Item"
    let name = register("name", of: String.self)
    let theme = lww("theme", of: String.self)
    let price = register("price", of: Int.self)
  }

  struct ItemV2: Entity {
    static let entityName = "Item"
    let name = register("name", of: String.self)
    let theme = register("theme", of: String.self, readingAlso: .lww)
    let price = register(
      "price", of: Double.self,
      readingAlso: .register(of: Int.self) { Double($0) / 100 })
    let color = register("color", of: String.self)
  }

  private let old = Replica.ofArticle(1, [ItemV1.self])
  private let new = Replica.ofArticle(2, [ItemV2.self])
  private let third = Replica.ofArticle(3, [ItemV2.self])

  @Test func article() throws {
    try new.save { $0[ItemV2.self, "lamp"].color = "red" }
    #expect(old.merge(new).isClean)
    third.merge(old)
    #expect(third[ItemV2.self, "lamp"]?.color == "red")

    try old.save { transaction in
      transaction[ItemV1.self, "desk"].theme = "dark"
      transaction[ItemV1.self, "desk"].price = 250
    }
    #expect(new.merge(old).isClean)
    #expect(new[ItemV2.self, "desk"]?.theme == "dark")
    #expect(new[ItemV2.self, "desk"]?.price == 2.5)

    try new.save { $0[ItemV2.self, "desk"].theme = "light" }
    let report = old.merge(new)
    #expect(
      report.kindMismatches.map(\.field) == [FieldKey("theme", .register)])
    #expect(old[ItemV1.self, "desk"]?.theme == "dark")
  }
}
