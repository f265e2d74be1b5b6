// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Forms that assign every field to its own value.
@Suite struct WritingBackTests {
  private enum OldAisle: String, FieldValue { case dairy }
  private enum Aisle: String, FieldValue { case dairy, bakery }

  private struct Shelf: Entity {
    let name = register("name", of: String.self)
  }

  private struct OldProduct: Entity {
    static let entityName = "Product"
    let title = register("title", of: String.self)
    let aisle = register("aisle", of: OldAisle.self)
    let shelf = toOne("shelf", Shelf.self)
    let stock = counter("stock")
  }

  private struct Product: Entity {
    let title = register("title", of: String.self)
    let aisle = register("aisle", of: Aisle.self)
    let shelf = toOne("shelf", Shelf.self)
    let stock = register(
      "stock", of: Int.self, fallingBackTo: .counter { Int($0) })
  }

  private static let aisle = FieldKey("aisle", .register)
  private static let shelf = FieldKey("shelf", .register)
  private static let stock = FieldKey("stock", .register)
  private let id = RecordID("Product", "1")
  private let old = replica(1, [OldProduct.self, Shelf.self])
  private let new = replica(2, [Product.self, Shelf.self])

  private static func replica(_ device: UInt64, _ schema: Schema) -> Replica {
    Replica(
      device: DeviceID(device), schema: schema, wallClock: WallClock { 1000 },
      makeDeviceID: { DeviceID(99) })
  }

  /// The older version cannot read the aisle, and lacks the shelf.
  private func sendProduct() throws {
    try new.save { transaction in
      let product = transaction[Product.self, "1"]
      (product.title, product.aisle) = ("Bread", .bakery)
      product.shelf = Reference("top")
    }
    old.merge(new)
    #expect(old[OldProduct.self, "1"]?.aisle == nil)
    #expect(old[OldProduct.self, "1"]?.shelf == nil)
  }

  private func kept(_ field: FieldKey) -> Value? {
    old.record(id)?[field].value
  }

  @Test func draftHasNoEdit() throws {
    try sendProduct()
    var draft = old.draft(of: OldProduct.self, key: "1")
    draft.aisle = draft.aisle
    draft.shelf = draft.shelf
    draft.title = draft.title
    #expect(!draft.hasChanges)
    draft.title = "Roll"
    try EditingContext(old).commit(&draft)
    #expect(kept(Self.aisle) == "bakery")
    #expect(kept(Self.shelf) == .reference(RecordID("Shelf", "top")))
  }

  @Test func contextHasNoEdit() throws {
    try sendProduct()
    let context = EditingContext(old)
    let product = context.fetch(OldProduct.self, key: "1")
    product.aisle = product.aisle
    product.shelf = product.shelf
    #expect(!context.hasChanges)
  }

  @Test func saveWritesSameValues() throws {
    try sendProduct()
    try old.save { transaction in
      let product = transaction[OldProduct.self, "1"]
      product.aisle = product.aisle
      product.shelf = product.shelf
    }
    #expect(kept(Self.aisle) == "bakery")
    #expect(kept(Self.shelf) == .reference(RecordID("Shelf", "top")))
    new.merge(old)
    #expect(new[Product.self, "1"]?.aisle == .bakery)
  }

  /// An assignment of `nil` unsets a shown value, even one of the same save.
  @Test func nilUnsetsShownValue() throws {
    try sendProduct()
    try old.save { $0[OldProduct.self, "1"].title = nil }
    #expect(old[OldProduct.self, "1"]?.title == nil)
    #expect(
      old.record(id)?.write(of: FieldKey("title", .register))?.value == nil)
    try old.save { transaction in
      transaction[OldProduct.self, "1"].aisle = .dairy
      transaction[OldProduct.self, "1"].aisle = nil
    }
    #expect(kept(Self.aisle) == nil)
  }

  @Test func unsetRemovesUnreadableValue() throws {
    try sendProduct()
    try old.save { $0[OldProduct.self, "1"].unset(\.aisle) }
    #expect(kept(Self.aisle) == nil)
    var draft = old.draft(of: OldProduct.self, key: "1")
    draft.unset(\.shelf)
    #expect(draft.hasChanges)
    try EditingContext(old).commit(&draft)
    #expect(kept(Self.shelf) == nil)
  }

  @Test func keyUnsetsUnreadableValue() throws {
    try sendProduct()
    var draft = old.draft(of: OldProduct.self, key: "1")
    draft.set(nil, for: Self.aisle)
    #expect(draft.hasChanges)
  }

  private func sendStock() throws {
    try old.save { $0[OldProduct.self, "1"].stock.increment(by: 7) }
    new.merge(old)
    #expect(new[Product.self, "1"]?.stock == 7)
  }

  @Test func valueOfOlderFieldIsNoEdit() throws {
    try sendStock()
    var draft = new.draft(of: Product.self, key: "1")
    draft.stock = 9
    #expect(draft.hasChanges)
    draft.stock = 7
    #expect(!draft.hasChanges && draft.stock == 7)
    let context = EditingContext(new)
    let product = context.fetch(Product.self, key: "1")
    product.stock = product.stock
    #expect(!context.hasChanges)
    // The older version of the app still increments the counter.
    try old.save { $0[OldProduct.self, "1"].stock.increment() }
    new.merge(old)
    #expect(new[Product.self, "1"]?.stock == 8)
  }

  @Test func saveOfOlderValueIsEdit() throws {
    try sendStock()
    try new.save { $0[Product.self, "1"].stock = 7 }
    #expect(new.record(id)?[Self.stock].value == 7)
  }

  @Test func olderValueDoesNotReplaceWrittenOne() throws {
    try sendStock()
    try new.save { $0[Product.self, "1"].stock = 3 }
    var draft = new.draft(of: Product.self, key: "1")
    draft.stock = 7
    #expect(draft.hasChanges && draft.stock == 7)
  }

  /// A resolution stays with any value.
  @Test func resolutionWithOlderValueStays() throws {
    try sendStock()
    var draft = new.draft(of: Product.self, key: "1")
    draft.resolve(\.stock, with: 9)
    draft.stock = 7
    #expect(draft.hasChanges && draft.stock == 7)
  }

  /// A user who reverts a choice keeps the value that the app cannot read.
  @Test func revertedChoiceIsNoEdit() throws {
    try sendProduct()
    var draft = old.draft(of: OldProduct.self, key: "1")
    draft.aisle = .dairy
    #expect(draft.hasChanges)
    draft.aisle = nil
    #expect(!draft.hasChanges)
    draft.aisle = .dairy
    draft.unset(\.aisle)
    #expect(draft.hasChanges)
    try EditingContext(old).commit(&draft)
    #expect(kept(Self.aisle) == nil)
  }

  /// A form of another version of the app also edits the record.
  @Test func editOfOtherVersionStays() throws {
    try sendProduct()
    let context = EditingContext(old)
    context.fetch(Product.self, key: "1").aisle = .bakery
    #expect(!context.hasChanges)
    context.set("fish", for: Self.aisle, in: id)
    let product = context.fetch(OldProduct.self, key: "1")
    product.aisle = product.aisle
    #expect(context.value(of: Self.aisle, in: id) == "fish")
  }

  @Test(arguments: [true, false])
  func nilHidesOlderField(_ byUnset: Bool) throws {
    try sendStock()
    var draft = new.draft(of: Product.self, key: "1")
    if byUnset { draft.unset(\.stock) } else { draft.stock = nil }
    #expect(draft.hasChanges && draft.stock == nil)
    try EditingContext(new).commit(&draft)
    #expect(new[Product.self, "1"]?.stock == nil)
    #expect(new.record(id)?.write(of: FieldKey("stock", .register)) != nil)
  }

  @Test(arguments: [true, false])
  func nilHidesOlderFieldInContext(_ byUnset: Bool) throws {
    try sendStock()
    let context = EditingContext(new)
    let product = context.fetch(Product.self, key: "1")
    if byUnset { product.unset(\.stock) } else { product.stock = nil }
    #expect(context.hasChanges && product.stock == nil)
    try context.save()
    #expect(new[Product.self, "1"]?.stock == nil)
  }

  @Test func resolutionWithShownValueKeepsContent() throws {
    try sendProduct()
    var draft = old.draft(of: OldProduct.self, key: "1")
    draft.resolve(\.aisle, with: draft.aisle)
    #expect(draft.hasChanges)
    try EditingContext(old).commit(&draft)
    #expect(kept(Self.aisle) == "bakery")
  }

  /// A price in cents that the app rounds down to euros.
  private struct Euros: FieldValue {
    let amount: Int64

    init?(fieldValue value: Value) {
      guard case .int(let cents) = value else { return nil }
      amount = cents / 100
    }

    var fieldValue: Value { .int(amount * 100) }
  }

  private struct Priced: Entity {
    static let entityName = "Product"
    let price = register("price", of: Euros.self)
    let width = register(
      "width", of: Int.self,
      fallingBackTo: .register(of: Double.self) { Int($0) }
    )
  }

  /// The app reads a part of one value, and another one has an older type.
  @Test func partiallyReadValueIsNoEdit() throws {
    let (price, width) = (
      FieldKey("price", .register), FieldKey("width", .register)
    )
    try new.save { transaction in
      transaction.apply(.write(.int(575)), to: price, of: id)
      transaction.apply(.write(.double(5.75)), to: width, of: id)
    }
    var draft = new.draft(of: Priced.self, key: "1")
    #expect(draft.price?.amount == 5 && draft.width == 5)
    draft.price = draft.price
    draft.width = draft.width
    #expect(!draft.hasChanges)
    draft.width = 6
    draft.resolve(\.price, with: draft.price)
    try EditingContext(new).commit(&draft)
    #expect(new.record(id)?[price].value == .int(575))
    #expect(new.record(id)?[width].value == .int(6))
  }

  @Test func assignmentAfterDeletionCreatesAgain() throws {
    try sendProduct()
    var draft = old.draft(of: OldProduct.self, key: "1")
    draft.delete()
    draft.title = nil
    try EditingContext(old).commit(&draft)
    #expect(old.exists(id) && kept(Self.aisle) == nil)
  }
}
