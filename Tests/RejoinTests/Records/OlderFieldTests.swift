// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// The first version of an app's entity.
private struct Old: Entity {
  static let entityName = "Item"
  let theme = lww("theme", of: String.self)
  let price = register("price", of: Int.self)
  let stock = counter("stock")
}

/// A later version with other kinds and another type.
private struct New: Entity {
  static let entityName = "Item"
  let theme = register("theme", of: String.self)
  let price = register(
    "price", of: Double.self,
    fallingBackTo: .register(of: Int.self) { Double($0) / 100 })
  let stock = lww(
    "stock", of: String.self,
    fallingBackTo: .register(of: Int.self) { "\($0)" },
    .counter { "\($0) pieces" })
}

/// A later version that does not fall back to the first one.
private struct Careless: Entity {
  static let entityName = "Item"
  let stock = register("stock", of: String.self)
}

@Suite(.encodes) struct OlderFieldTests {
  private let old = replica(1, [Old.self])
  private let new = replica(2, [New.self])
  private let id = RecordID("Item", "1")

  private static func replica(_ device: UInt64, _ schema: Schema) -> Replica {
    Replica(
      device: DeviceID(device), schema: schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(99) })
  }

  private func fill() throws -> MergeReport {
    try old.save { transaction in
      transaction[Old.self, "1"].theme = "dark"
      transaction[Old.self, "1"].price = 250
      transaction[Old.self, "1"].stock.increment(by: 7)
    }
    return old.tell(new)
  }

  private var item: TypedRecord<New>? { new[New.self, "1"] }

  @Test func fieldsOfOlderVersionAreRead() throws {
    #expect(try !fill().hasFaults)
    #expect(item?.theme == "dark")
    #expect(item?.price == 2.5)
    #expect(item?.stock == "7 pieces")
    #expect(item?.write(of: \.theme)?.dot == Dot(old.device, 1))
    #expect(item?.write(of: \.theme)?.value == "dark")
    try new.save { transaction in
      #expect(transaction[New.self, "1"].theme == "dark")
      #expect(transaction[New.self, "1"].stock == "7 pieces")
    }
  }

  @Test func newFieldIsReadFirstAndBothAreKept() throws {
    _ = try fill()
    try new.save { transaction in
      transaction[New.self, "1"].theme = "light"
      transaction[New.self, "1"].price = 9.5
      transaction[New.self, "1"].stock = "none"
      #expect(transaction[New.self, "1"].theme == "light")
    }
    #expect(item?.theme == "light")
    #expect(item?.price == 9.5)
    #expect(item?.stock == "none")
    #expect(item?.write(of: \.theme)?.dot == Dot(new.device, 1))
    let report = new.tell(old)
    #expect(
      report.kindMismatches == [
        .init(record: id, field: New().stock.key)
      ])
    #expect(report.hasFaults)
    #expect(old[Old.self, "1"]?.theme == "light")
    #expect(old[Old.self, "1"]?.stock == 7)
    #expect(areEqual(old, new))
  }

  @Test func unsettingHidesOlderField() throws {
    _ = try fill()
    try new.save { transaction in
      transaction[New.self, "1"].theme = nil
      #expect(transaction[New.self, "1"].theme == nil)
    }
    #expect(item?.theme == nil)
  }

  @Test func recreatedRecordHidesOlderFields() throws {
    _ = try fill()
    try new.save { transaction in
      transaction[New.self, "1"].delete()
      transaction[New.self, "1"].ensureExists()
      #expect(transaction[New.self, "1"].theme == nil)
    }
    #expect(item?.theme == nil)
    #expect(item?.price == nil)
    #expect(item?.stock == nil)
  }

  @Test func conflictOfTwoTypesReadsAsOneType() throws {
    _ = try fill()
    try old.save { $0[Old.self, "1"].price = 300 }
    try new.save { $0[New.self, "1"].price = 4.5 }
    settle(old, new)
    let price = try #require(item?.price)
    let conflicts = try #require(item?.conflictingValues(of: \.price))
    #expect(Set([price] + conflicts) == [3, 4.5])
  }

  @Test func undeclaredOlderFieldIsKindMismatch() throws {
    _ = try fill()
    let careless = Self.replica(3, [Careless.self])
    let report = new.tell(careless)
    #expect(
      report.kindMismatches == [.init(record: id, field: Old().stock.key)])
    #expect(report.hasFaults)
    #expect(careless[Careless.self, "1"]?.stock == nil)
    #expect(areEqual(careless, new))
  }
}

/// Sets, references and registers that were of other kinds before.
@Suite(.encodes) struct OlderValueTests {
  private struct First: Entity {
    static let entityName = "Item"
    let stock = counter("stock")
    let tags = register("tags", of: String.self)
    let list = register("list", of: String.self)
    let sizes = set("sizes", of: Int.self)
    let shop = toMany("shop", First.self)
  }

  private struct Second: Entity {
    static let entityName = "Item"
    let stock = register(
      "stock", of: String.self, fallingBackTo: .counter { "\($0) pieces" })
    let tags = set(
      "tags", of: String.self,
      fallingBackTo: .register(of: String.self) { $0.isEmpty ? nil : $0 })
    let list = toOne(
      "list", Second.self,
      fallingBackTo: .register(of: String.self) { Reference($0) })
    let sizes = set(
      "sizes", of: String.self, fallingBackTo: .set(of: Int.self) { "\($0)" })
    let shop = toOne(
      "shop", Second.self,
      fallingBackTo: .set(of: Reference<Second>.self) { $0 })
  }

  private let first = replica(1, [First.self])
  private let second = replica(2, [Second.self])

  private static func replica(_ device: UInt64, _ schema: Schema) -> Replica {
    let clock = ManualClock(Int64(device) * 1000)
    return Replica(
      device: DeviceID(device), schema: schema, wallClock: clock.wallClock,
      makeDeviceID: { DeviceID(99) })
  }

  private func old(_ body: (RecordEditor<First>) -> Void) throws -> Dot {
    let report = try first.save { body($0[First.self, "1"]) }
    first.tell(second)
    return try #require(report.dot)
  }

  private func new(_ body: (RecordEditor<Second>) -> Void) throws {
    try second.save { body($0[Second.self, "1"]) }
  }

  private func item() throws -> TypedRecord<Second> {
    try #require(second[Second.self, "1"])
  }

  @Test func editOfOlderVersionAfterNewerOneIsListed() throws {
    _ = try old { $0.stock.increment(by: 7) }
    #expect(try item().stock == "7 pieces")
    try new { $0.stock = "plenty" }
    let dot = try old { $0.stock.decrement() }
    #expect(try item().stock == "plenty")
    let values = try item().olderValues(of: \.stock)
    #expect(values.map(\.value) == ["6 pieces"])
    #expect(values.map(\.kind) == [.counter])
    #expect(values.map(\.saves) == [[dot]])
  }

  @Test func olderRegisterHasDeviceAndTime() throws {
    let dot = try old { $0.tags = "sweet" }
    try new { $0.tags.insert("sour") }
    let again = try old { $0.tags = "bitter" }
    let values = try item().olderValues(of: \.tags)
    #expect(values.map(\.value) == ["bitter"])
    #expect(values.first?.saves == [again] && again != dot)
    #expect(values.first?.time == first.state.hybrid.latest)
    _ = try old { $0.tags = nil }
    #expect(try item().olderValues(of: \.tags).isEmpty)
  }

  @Test func setFallsBackUntilItIsEdited() throws {
    _ = try old { $0.tags = "sweet" }
    #expect(try item().tags == ["sweet"])
    // The first edit keeps the shown elements.
    try second.save { transaction in
      let tags = transaction[Second.self, "1"].tags
      #expect(tags.elements == ["sweet"] && tags.contains("sweet"))
      tags.insert("sour")
      #expect(tags.elements == ["sour", "sweet"])
    }
    #expect(try item().tags == ["sour", "sweet"])
    try new { $0.tags.remove("sweet") }
    #expect(try item().tags == ["sour"])
    try new { $0.tags.removeAll() }
    #expect(try item().tags == [])
  }

  @Test func removingOlderElementEmptiesSet() throws {
    _ = try old { $0.tags = "sweet" }
    try new { $0.tags.remove("sweet") }
    #expect(try item().tags == [])
  }

  @Test func setConvertsElementsOfAnotherType() throws {
    _ = try old { sizes in
      sizes.sizes.insert(5)
      sizes.sizes.insert(7)
    }
    #expect(try item().sizes == ["5", "7"])
    try new { $0.sizes.insert("5") }
    #expect(try item().sizes == ["5", "7"])
    #expect(
      try item().insertions(of: \.sizes).map(\.element) == ["5", "7", "5"])
    // The removal includes the older value.
    try new { $0.sizes.remove("5") }
    #expect(try item().sizes == ["7"])
  }

  @Test func referenceFallsBackToRegisterAndSet() throws {
    _ = try first.save { $0[First.self, "home"].ensureExists() }
    _ = try old { editor in
      editor.list = "home"
      editor.shop.insert(Reference("home"))
      editor.shop.insert(Reference("missing"))
    }
    #expect(try item().shop == Reference("home"))
    // A key that no record has is not a dangling reference in a text register.
    #expect(try item().list == Reference("home"))
    try new { $0.shop = nil }
    #expect(try item().shop == nil)
    #expect(
      try item().olderValues(of: \.shop).map(\.value) == [Reference("home")])
  }

  /// The first edit moves the older element into the set, and an undo keeps it there.
  @Test(arguments: ["insert", "remove", "removeAll", "other", "replace"])
  func undoOfFirstEditShowsOlderElement(_ verb: String) throws {
    func edit(_ tags: SetEditor<String>) {
      switch verb {
      case "insert": tags.insert("sour")
      case "remove": tags.remove("sweet")
      case "removeAll": tags.removeAll()
      case "other": tags.remove("salty")
      default:
        tags.removeAll()
        tags.insert("sour")
      }
    }
    _ = try old { $0.tags = "sweet" }
    try second.save(undoable: verb) { edit($0[Second.self, "1"].tags) }
    let edited = try item().tags
    guard case .done(let report) = try second.undo() else {
      Issue.record("\(verb) is not undone")
      return
    }
    #expect(try report.unrevertedFields.isEmpty && item().tags == ["sweet"])
    try second.redo()
    #expect(try item().tags == edited)
    try second.undo()
    #expect(try item().tags == ["sweet"])
  }

  /// The recreated record does not show the older element.
  @Test(
    arguments: ["insert", "remove", "removeAll", "replace"], [false, true])
  func undoOfRecreationShowsOlderElement(
    _ verb: String, wasDeleted: Bool
  ) throws {
    func edit(_ tags: SetEditor<String>) {
      switch verb {
      case "insert": tags.insert("sour")
      case "remove": tags.remove("sweet")
      case "removeAll": tags.removeAll()
      default:
        tags.insert("salty")
        tags.removeAll()
        tags.insert("sour")
      }
    }
    _ = try old { $0.tags = "sweet" }
    let id = RecordID("Item", "1")
    if wasDeleted {
      try second.save(undoable: "Delete") { $0.delete(id) }
    }
    try second.save(undoable: verb) { transaction in
      if !wasDeleted { transaction.delete(id) }
      edit(transaction[Second.self, "1"].tags)
    }
    let edited = verb == "insert" || verb == "replace" ? ["sour"] : []
    #expect(try item().tags == edited)
    for _ in 0..<2 {
      #expect(try second.undo().left == [])
      if wasDeleted {
        #expect(second[Second.self, "1"] == nil)
        #expect(try second.undo().left == [])
      }
      #expect(try item().tags == ["sweet"])
      if wasDeleted { #expect(try second.redo().left == []) }
      #expect(try second.redo().left == [])
      #expect(try item().tags == edited)
    }
  }

  /// Another device wrote the set after the context fetched the record.
  @Test func undoOfRecreationLeavesWrittenSet() throws {
    _ = try old { $0.tags = "sweet" }
    let id = RecordID("Item", "1")
    let key = FieldKey("tags", .set)
    try second.save { $0[Second.self, "1"].tags.removeAll() }
    try second.save(undoable: "Again") { transaction in
      transaction.delete(id)
      transaction.apply(
        .members(SetEdit(moving: ["salty"], dropping: ["sweet"])), to: key,
        of: id)
    }
    #expect(try item().tags == ["salty"])
    #expect(try second.undo().left == [])
    #expect(try item().tags == [])
  }

  /// The set was edited after the re-creation, so it does not show the older
  /// field again.
  @Test(arguments: ["own save", "undone save", "other device"])
  func undoOfRecreationListsSetEditedLater(_ editor: String) throws {
    _ = try old { $0.tags = "sweet" }
    let third = Self.replica(3, [Second.self])
    try second.save(undoable: "Again") { transaction in
      transaction.delete(RecordID("Item", "1"))
      transaction[Second.self, "1"].ensureExists()
    }
    #expect(try item().tags == [])
    second.tell(third)
    let replica = editor == "other device" ? third : second
    let name = editor == "undone save" ? "Insert" : nil
    try replica.save(undoable: name) {
      $0.existing(Second.self, "1")?.tags.insert("sour")
    }
    if editor == "undone save" { #expect(try second.undo().left == []) }
    third.tell(second)
    #expect(try second.undo().left == ["tags"])
    #expect(try item().tags == (editor == "undone save" ? [] : ["sour"]))
  }

  /// The set already hid the older field.
  @Test func undoOfRecreationDoesNotListSetEditedBefore() throws {
    _ = try old { $0.tags = "sweet" }
    try second.save { $0[Second.self, "1"].tags.removeAll() }
    try second.save(undoable: "Again") { transaction in
      transaction.delete(RecordID("Item", "1"))
      transaction[Second.self, "1"].ensureExists()
    }
    #expect(try second.undo().left == [])
    #expect(try item().tags == [])
  }

  @Test func movedReferenceShowsWhenItsRecordArrives() throws {
    struct Old: Entity {
      static let entityName = "Item"
      let shop = toOne("shop", Old.self)
    }
    struct New: Entity {
      static let entityName = "Item"
      let shops = toMany(
        "shop", New.self,
        fallingBackTo: .register(of: Reference<New>.self) { $0 })
    }
    let (a, b) = (Self.replica(1, [Old.self]), Self.replica(2, [New.self]))
    try a.save { $0[Old.self, "1"].shop = Reference("bakery") }
    a.tell(b)
    try b.save { transaction in
      transaction[New.self, "dairy"].ensureExists()
      transaction[New.self, "1"].shops.insert(Reference("dairy"))
    }
    #expect(b[New.self, "1"]?.shops == [Reference("dairy")])
    try a.save { $0[Old.self, "bakery"].ensureExists() }
    a.tell(b)
    #expect(
      b[New.self, "1"]?.shops == [Reference("bakery"), Reference("dairy")])
  }

  @Test func registerShowsFirstConvertibleElement() throws {
    struct Old: Entity {
      static let entityName = "Item"
      let size = set("size", of: Int.self)
    }
    struct New: Entity {
      static let entityName = "Item"
      let size = register(
        "size", of: String.self,
        fallingBackTo: .set(of: Int.self) { $0 > 5 ? "\($0)" : nil })
    }
    let (a, b) = (Self.replica(1, [Old.self]), Self.replica(2, [New.self]))
    try a.save { transaction in
      transaction[Old.self, "1"].size.insert(3)
      transaction[Old.self, "1"].size.insert(7)
    }
    a.tell(b)
    #expect(b[New.self, "1"]?.size == "7")
    try b.save { #expect($0[New.self, "1"].size == "7") }
  }
}
