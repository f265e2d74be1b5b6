// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// The rows of tables that show records.
@Suite final class RecordTableTests: StoreSuite {
  enum Aisle: String, FieldValue { case dairy, bakery }
  struct Size: Codable, Hashable { var width = 2, height = 1 }

  struct Shop: Entity { let name = register("name", of: String.self) }

  struct Item: Entity {
    let title = register("title", of: String.self)
    let aisle = register("aisle", of: Aisle.self)
    let due = register("due", of: Date.self)
    let isDone = register("done", of: Bool.self)
    let price = register("price", of: Double.self)
    let code = register("code", of: UInt64.self)
    let id2 = register("uuid", of: UUID.self)
    let site = register("site", of: URL.self)
    let cost = register("cost", of: Decimal.self)
    let size = register("size", of: Coded<Size>.self)
    let any = register("any", of: Value.self)
    let amount = counter("amount")
    let log = ledger("log")
    let tags = set("tags", of: Value.self)
    let shop = toOne("shop", Shop.self)
    let shops = toMany("shops", Shop.self)
  }

  private static let table = RecordTable(of: Item.self, "items") {
    $0.column("title", \.title)
    $0.column("aisle", \.aisle)
    $0.column("due", \.due)
    $0.column("done", \.isDone)
    $0.column("price", \.price)
    $0.column("code", \.code)
    $0.column("uuid", \.id2)
    $0.column("site", \.site)
    $0.column("cost", \.cost)
    $0.column("size", \.size)
    $0.column("any", \.any)
    $0.column("amount", \.amount)
    $0.column("log", \.log)
    $0.column("tags", \.tags)
    $0.column("shop", \.shop)
    $0.column("shops", \.shops)
    $0.conflictCount("conflicts")
  }

  private func store(
    _ tables: [RecordTable] = [table]
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, schema: [Item.self, Shop.self], tables: tables,
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
  }

  private func rows(
    _ columns: String, of table: String = "items"
  ) throws -> [[SQLValue]] {
    let count = columns.split(separator: ",").count
    var rows: [[SQLValue]] = []
    try SQLiteConnection(opening: path).run(
      "SELECT \(columns) FROM \(table) ORDER BY id", []
    ) { row in
      rows.append((0..<count).map { row.value($0) })
    }
    return rows
  }

  private func expect(
    _ columns: String, _ row: [SQLValue],
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let rows = try rows(columns)
    #expect(rows == [row], sourceLocation: location)
  }

  @Test func columnsShowFields() async throws {
    let store = try await store()
    let uuid = UUID()
    try await store.save { transaction in
      let item = transaction[Item.self, "a\0b"]
      (item.title, item.aisle, item.isDone) = ("\"Milk\0\" é", .dairy, true)
      item.due = Date(timeIntervalSince1970: -1.5)
      (item.price, item.code, item.id2) = (-0.0, 7, uuid)
      item.site = URL(string: "https://a.example/b")
      (item.cost, item.size) = (Decimal(string: "1.50"), Coded(Size()))
      item.amount.increment(by: -3)
      item.log.append(4)
    }
    try expect(
      "id, title, aisle",
      [.text("a\0b"), .text("\"Milk\0\" é"), .text("dairy")])
    try expect(
      "due, done, price", [.integer(-1_500_000), .integer(1), .double(0)])
    try expect("code, site", [.integer(7), .text("https://a.example/b")])
    let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
    try expect("uuid, cost", [.bytes(bytes), .text("1.5")])
    try expect("size", [.text(#"{"height":1,"width":2}"#)])
    try expect("amount, log", [.integer(-3), .integer(4)])
    try expect(
      "shop, any, tags, conflicts", [.null, .null, .text("[]"), .integer(0)])
    try await store.save { $0[Item.self, "a\0b"].isDone = false }
    try expect("done", [.integer(0)])
  }

  @Test func unusualValuesHaveUnusualTypes() async throws {
    let store = try await store()
    try await store.save { transaction in
      transaction[Item.self, "1"].code = .max
      transaction[Item.self, "1"].price = .nan
      transaction[Item.self, "1"].any = .null
    }
    try expect(
      "code, price, any",
      [.bytes(Array(repeating: 255, count: 8)), .null, .null])
    try await store.save { $0[Item.self, "1"].price = -.infinity }
    try expect("price", [.double(-.infinity)])
    // 1 and 1.0 are equal in SQL.
    for value in [Value.int(1), .double(1), .bool(true), .string("1")] {
      try await store.save { $0[Item.self, "1"].any = value }
      let expected: SQLValue =
        switch value {
        case .double: .double(1)
        case .string: .text("1")
        default: .integer(1)
        }
      try expect("any", [expected])
    }
  }

  @Test func setsAreJSONArrays() async throws {
    let store = try await store()
    let elements: [Value] = [
      .null, .bool(true), .int(.max), .double(0.5), .double(.infinity),
      .string("a\"/\\\n"), .bytes([0, 171]), .date(5),
    ]
    try await store.save { transaction in
      for element in elements {
        transaction[Item.self, "1"].tags.insert(element)
      }
    }
    try expect(
      "tags",
      [
        .text(
          #"[null,true,9223372036854775807,0.5,"inf","a\"/\\\n","00AB",5]"#)
      ])
    #expect(
      try SQLiteConnection(opening: path).integer(
        "SELECT count(*) FROM items, json_each(tags)") == 8)
    try await store.save { $0[Item.self, "1"].tags.removeAll() }
    try expect("tags", [.text("[]")])
  }

  @Test func declaredTypesMatchSwiftTypes() async throws {
    _ = try await store()
    var types: [String: String] = [:]
    try SQLiteConnection(opening: path).run(
      "SELECT name, type FROM pragma_table_info('items')", []
    ) { row in types[row.text(0) ?? ""] = row.text(1) }
    #expect(
      types == [
        "id": "TEXT", "title": "TEXT", "aisle": "", "due": "INTEGER",
        "done": "INTEGER", "price": "REAL", "code": "INTEGER", "uuid": "BLOB",
        "site": "TEXT", "cost": "TEXT", "size": "TEXT", "any": "",
        "amount": "INTEGER", "log": "INTEGER", "tags": "TEXT", "shop": "TEXT",
        "shops": "TEXT", "conflicts": "INTEGER",
      ])
  }

  /// The field shows `nil`, and so does the column.
  @Test func undecodableValueIsNull() async throws {
    let store = try await store()
    let id = RecordID("Item", "1")
    try await store.save {
      $0.apply(.write(.int(1)), to: FieldKey("title", .register), of: id)
      $0.apply(.write("meat"), to: FieldKey("aisle", .register), of: id)
    }
    #expect(await store.read { $0[Item.self, "1"]?.title } == nil)
    try expect("id, title, aisle", [.text("1"), .null, .null])
  }

  @Test func referenceShowsExistingRecord() async throws {
    let store = try await store()
    try await store.save { transaction in
      transaction[Item.self, "1"].shop = Reference("x")
      transaction[Item.self, "1"].shops.insert(Reference("x"))
      transaction[Item.self, "2"].title = "other"
    }
    func expectShop(_ shop: SQLValue, _ shops: String) throws {
      #expect(
        try rows("shop, shops") == [
          [shop, .text(shops)], [.null, .text("[]")],
        ])
    }
    try expectShop(.null, "[]")
    try await store.save { $0[Shop.self, "x"].name = "X" }
    try expectShop(.text("x"), #"["x"]"#)
    try await store.save { $0[Shop.self, "x"].delete() }
    try expectShop(.null, "[]")
    try await store.save { $0.undelete(RecordID("Shop", "x")) }
    try expectShop(.text("x"), #"["x"]"#)
  }

  @Test func conflictsAreCounted() async throws {
    let store = try await store()
    try await store.save { $0[Item.self, "1"].title = "Milk" }
    try await store.withReplica { replica in
      let other = replica.fork(as: DeviceID(8))
      try other.save { transaction in
        transaction[Item.self, "1"].title = "Oat"
        transaction[Item.self, "1"].aisle = .dairy
      }
      try replica.save { transaction in
        transaction[Item.self, "1"].title = "Soy"
        transaction[Item.self, "1"].aisle = .bakery
      }
      _ = replica.merge(other)
    }
    try expect("title, conflicts", [.text("Oat"), .integer(2)])
    try await store.save { $0[Item.self, "1"].title = "Oat" }
    try expect("title, conflicts", [.text("Oat"), .integer(1)])
  }

  @Test func tableCanHaveNoColumns() async throws {
    let store = try await store([RecordTable(of: Item.self, "keys") { _ in }])
    for _ in 0..<2 {
      try await store.save { $0[Item.self, "1"].title = "Milk" }
    }
    #expect(try rows("id", of: "keys") == [[.text("1")]])
    try await store.save { $0[Item.self, "1"].delete() }
    #expect(try rows("id", of: "keys") == [])
  }

  /// Two tables of one entity, with names that are words of SQL.
  @Test func namesCanBeKeywords() async throws {
    let store = try await store([
      RecordTable(of: Item.self, "order") { $0.column("select", \.title) },
      RecordTable(of: Item.self, "GROUP") { $0.column("_1", \.amount) },
    ])
    try await store.save { $0[Item.self, "1"].title = "Milk" }
    #expect(
      try rows("id, \"select\"", of: "\"order\"") == [
        [.text("1"), .text("Milk")]
      ])
    #expect(try rows("id, _1", of: "\"group\"") == [[.text("1"), .integer(0)]])
  }

  /// A row that does not differ is not written, and no row is replaced.
  @Test func triggersSeeEachChangeOnce() async throws {
    let store = try await store()
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE seen (verb TEXT)")
    for verb in ["INSERT", "UPDATE", "DELETE"] {
      try connection.run(
        "CREATE TRIGGER seen_\(verb) AFTER \(verb) ON items BEGIN "
          + "INSERT INTO seen VALUES ('\(verb)'); END")
    }
    func seen() throws -> [String?] {
      var verbs: [String?] = []
      try connection.run("SELECT verb FROM seen ORDER BY rowid", []) {
        verbs.append($0.text(0))
      }
      try connection.run("DELETE FROM seen")
      return verbs
    }
    try await store.save { $0[Item.self, "1"].title = "Milk" }
    #expect(try seen() == ["INSERT"])
    try await store.save { $0[Item.self, "1"].title = "Soy" }
    #expect(try seen() == ["UPDATE"])
    try await store.save { $0[Item.self, "1"].title = "Soy" }
    try await store.save { $0[Shop.self, "1"].name = "X" }
    #expect(try seen() == [])
    try await store.save { $0[Item.self, "1"].delete() }
    #expect(try seen() == ["DELETE"])
    try await store.save { $0[Item.self, "1"].delete() }
    #expect(try seen() == [])
  }
}
