// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct EvolvingASchemaArticle {
  struct ItemV1: Entity {
    static let entityName = "Item"
    let name = register("name", of: String.self)
    let stock = counter("stock")
    let price = register("price", of: Int.self)
  }

  struct ItemV2: Entity {
    static let entityName = "Item"
    let name = register("name", of: String.self)
    let stock = register(
      "stock", of: String.self, fallingBackTo: .counter { "\($0) pieces" })
    let price = register(
      "price", of: Double.self,
      fallingBackTo: .register(of: Int.self) { Double($0) / 100 })
    let color = register("color", of: String.self)
  }

  struct PostV1: Entity {
    static let entityName = "Post"
    let tag = register("tag", of: String.self)
  }

  struct PostV2: Entity {
    static let entityName = "Post"
    let tags = set(
      "tag", of: String.self,
      fallingBackTo: .register(of: String.self) { $0 })
  }

  private let old = Replica.ofArticle(1, [ItemV1.self])
  private let new = Replica.ofArticle(2, [ItemV2.self])
  private let third = Replica.ofArticle(3, [ItemV2.self])

  @Test func article() throws {
    try new.save { $0[ItemV2.self, "lamp"].color = "red" }
    #expect(!old.merge(new).hasFaults)
    third.merge(old)
    #expect(third[ItemV2.self, "lamp"]?.color == "red")

    try old.save { transaction in
      transaction[ItemV1.self, "desk"].stock.increment(by: 7)
      transaction[ItemV1.self, "desk"].price = 250
    }
    #expect(!new.merge(old).hasFaults)
    #expect(new[ItemV2.self, "desk"]?.stock == "7 pieces")
    #expect(new[ItemV2.self, "desk"]?.price == 2.5)

    try new.save { $0[ItemV2.self, "desk"].stock = "none" }
    try old.save { $0[ItemV1.self, "desk"].stock.decrement() }
    let merged = new.merge(old)
    #expect(merged.changedFields.map(\.field) == [FieldKey("stock", .counter)])
    #expect(new[ItemV2.self, "desk"]?.stock == "none")
    let older = new[ItemV2.self, "desk"]?.olderValues(of: \.stock) ?? []
    #expect(older.map(\.value) == ["6 pieces"])
    #expect(older.flatMap(\.saves).map(\.device) == [DeviceID(1)])

    try new.save { $0[ItemV2.self, "desk"].stock = "plenty" }
    let report = old.merge(new)
    #expect(
      report.kindMismatches.map(\.field) == [FieldKey("stock", .register)])
    #expect(old[ItemV1.self, "desk"]?.stock == 6)

    let first = Replica.ofArticle(1, [PostV1.self])
    let second = Replica.ofArticle(2, [PostV2.self])
    try first.save { $0[PostV1.self, "1"].tag = "news" }
    second.merge(first)
    try second.save { $0[PostV2.self, "1"].tags.insert("swift") }
    #expect(second[PostV2.self, "1"]?.tags == ["news", "swift"])
  }
}
