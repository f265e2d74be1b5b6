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

/// A later one: other kinds, and another type.
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

/// One that forgot about the first.
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
      device: DeviceID(device), schema: schema, wallClock: ManualClock().wall,
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

  @Test func whatAnOlderVersionWroteIsRead() throws {
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

  @Test func theNewFieldIsReadFirstAndBothAreKept() throws {
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

  @Test func unsettingIsAWrite() throws {
    _ = try fill()
    try new.save { transaction in
      transaction[New.self, "1"].theme = nil
      #expect(transaction[New.self, "1"].theme == nil)
    }
    #expect(item?.theme == nil)
  }

  @Test func creatingAgainShowsNothingOld() throws {
    _ = try fill()
    try new.save { transaction in
      transaction[New.self, "1"].delete()
      transaction[New.self, "1"].touch()
      #expect(transaction[New.self, "1"].theme == nil)
    }
    #expect(item?.theme == nil)
    #expect(item?.price == nil)
    #expect(item?.stock == nil)
  }

  @Test func aConflictOfTwoTypesIsReadAsOne() throws {
    _ = try fill()
    try old.save { $0[Old.self, "1"].price = 300 }
    try new.save { $0[New.self, "1"].price = 4.5 }
    settle(old, new)
    let price = try #require(item?.price)
    let conflicts = try #require(item?.conflictingValues(of: \.price))
    #expect(Set([price] + conflicts) == [3, 4.5])
  }

  @Test func whatNobodyDeclaredToReadIsAMismatch() throws {
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
