// SPDX-License-Identifier: Apache-2.0

// A grocery app without a screen. Each device is a process, and all share a server:
//
//     grocery FOLDER URL DEVICE VERSION VERB…

import RejoinPolicies
import RejoinSQL
import RejoinSync

enum Aisle: String, FieldValue, CaseIterable { case produce, dairy, bakery }

struct Member: Entity { let name = register("name", of: String.self) }

struct ShoppingList: Entity {
  let name = register("name", of: String.self)
  let members = toMany("members", Member.self)
  let edits = counter("edits")
}

/// The part of an item that both versions of the app have.
protocol Item: Entity {
  var title: Field<Self, MVRegister<String>> { get }
  var aisle: Field<Self, MVRegister<Aisle>> { get }
  var amount: Field<Self, PNCounter> { get }
  var list: Field<Self, MVRegister<Reference<ShoppingList>>> { get }

  static func tag(_ item: RecordEditor<Self>, as tag: String)
  static func tags(of item: TypedRecord<Self>) -> [String]
  /// Returns the tags that only the first version shows.
  static func olderTags(of item: TypedRecord<Self>) -> [String]
}

/// An item of the first version, with one tag.
struct FirstItem: Item {
  static let entityName = "Item"
  let title = register("title", of: String.self)
  let aisle = register("aisle", of: Aisle.self)
  let amount = counter("amount")
  let list = toOne("list", ShoppingList.self)
  let tag = register("tag", of: String.self)

  static func tag(_ item: RecordEditor<Self>, as tag: String) { item.tag = tag }
  static func tags(of item: TypedRecord<Self>) -> [String] {
    item.tag.map { [$0] } ?? []
  }
  static func olderTags(of item: TypedRecord<Self>) -> [String] { [] }
}

/// An item of the second version, with a set of tags.
struct SecondItem: Item {
  static let entityName = "Item"
  let title = register("title", of: String.self)
  let aisle = register("aisle", of: Aisle.self)
  let amount = counter("amount")
  let list = toOne("list", ShoppingList.self)
  let tags = set(
    "tag", of: String.self, fallingBackTo: .register(of: String.self) { $0 })

  static func tag(_ item: RecordEditor<Self>, as tag: String) {
    item.tags.insert(tag)
  }
  static func tags(of item: TypedRecord<Self>) -> [String] { item.tags }
  static func olderTags(of item: TypedRecord<Self>) -> [String] {
    item.olderValues(of: \.tags).map(\.value).filter { !item.tags.contains($0) }
  }
}

struct Grocery<I: Item> {
  let store: ReplicaStore
  let engine: SyncEngine
  /// A file with a line for each acknowledged edit.
  let log: FileHandle
  /// The path of a file with the size of the log whose edits are uploaded.
  let uploaded: String

  init(_ folder: String, _ server: URL, device: String) async throws {
    store = try await ReplicaStore(
      at: "\(folder)/\(device).sqlite",
      schema: [Member.self, ShoppingList.self, I.self],
      tables: [
        RecordTable(of: I.self, "items") {
          $0.column("title", \.title)
          $0.column("amount", \.amount)
          $0.column("list", \.list)
        }
      ])
    engine = SyncEngine(
      store, routes: [.http("server", scope: "home", url: server)])
    uploaded = "\(folder)/\(device).uploaded"
    log = try FileHandle(forWritingTo: URL(filePath: "\(folder)/\(device).log"))
    try log.seekToEnd()
    // The rows of the app's former database, which every device imports.
    try await store.withReplica { replica in
      _ = try replica.importRows { transaction in
        transaction[Member.self, "ada"].name = "Ada"
        let list = transaction[ShoppingList.self, "home"]
        list.name = "Home"
        list.members.insert(Reference("ada"))
        for (key, aisle) in [("bread", Aisle.bakery), ("milk", .dairy)] {
          let item = transaction[I.self, key]
          (item.title, item.aisle, item.list) = (key, aisle, Reference("home"))
          item.amount.increment(by: 2)
        }
      }
    }
  }

  func edit(_ body: @Sendable (Transaction) -> Void) async throws {
    try await store.save { transaction in
      body(transaction)
      transaction[ShoppingList.self, "home"].edits.increment()
    }
    try log.write(contentsOf: Data("1\n".utf8))
  }

  func commit(_ form: RecordDraft<I>, named name: String) async throws {
    try await store.commit(form, under: .merge, undoable: name)
  }

  func rename(_ key: String, to title: String) async throws {
    var form = await store.read { $0.draft(of: I.self, key: key) }
    (form.title, form.list) = (title, Reference("home"))
    try await commit(form, named: "Rename \(key)")
  }

  func undo() async throws {
    if case .prevented = try await store.undo() {
      try await store.discardUndo()
    }
  }

  /// Settles every conflict in favor of the title that is shown.
  func resolveConflicts() async throws {
    for item in await store.read({ $0.records(of: I.self) }) {
      let others = item.conflictingValues(of: \.title).map { $0 ?? "-" }
      if others.isEmpty { continue }
      print("\(item.id) is \(item.title ?? "-"), and not \(others)")
      var form = await store.read { $0.draft(of: I.self, key: item.id) }
      form.resolve(\.title, with: item.title)
      try await commit(form, named: "Resolve \(item.id)")
    }
  }

  func tag(_ key: String, as tag: String) async throws {
    try await edit { transaction in
      transaction.existing(I.self, key).map { I.tag($0, as: tag) }
    }
  }

  func editAtRandom() async throws {
    let key = ["bread", "milk", "tea", "rice", "eggs"].randomElement()!
    let number = Int64.random(in: 1...9)
    switch Int.random(in: 0..<10) {
    case 0: try await edit { $0[I.self, key].delete() }
    case 1: try await rename(key, to: "\(key) \(number)")
    case 2: try await undo()
    case 3: try await store.redo()
    case 4: try await resolveConflicts()
    case 5: try await sync()
    case 6: try await tag(key, as: "\(number)")
    default:
      try await edit { $0.existing(I.self, key)?.amount.increment(by: number) }
    }
  }

  func sync() async throws {
    let size = try log.offset()
    let status = await engine.sync()[0]
    if status.isUploaded {
      try "\(size)".write(toFile: uploaded, atomically: true, encoding: .utf8)
    }
    if let problem = status.problem { print("not synced: \(problem)") }
    for item in await store.read({ $0.records(of: I.self) }) {
      for tag in I.olderTags(of: item) { try await self.tag(item.id, as: tag) }
    }
  }

  func show() async {
    let (lists, items) = await store.read { view in
      (view.records(of: ShoppingList.self), view.records(of: I.self))
    }
    for list in lists {
      print(list.id, list.name ?? "-", list.members.map(\.key), list.edits)
    }
    for item in items {
      print(
        item.id, item.title ?? "-", item.aisle?.rawValue ?? "-", item.amount,
        I.tags(of: item), item.list?.key ?? "-",
        item.conflictingValues(of: \.title).map { $0 ?? "-" })
    }
  }

  /// Compares the list on the screen and the table of the file with the records.
  @MainActor func check(_ list: RecordList<I>, _ path: String) async throws {
    let items = await store.read { $0.records(of: I.self) }
    if list.elements != items { fatalError("the list differs from the store") }
    var rows: [String] = []
    try SQLiteConnection(opening: path, .reading).run(
      "SELECT id, title, amount, list FROM items ORDER BY id", []
    ) { row in
      rows.append(
        "\([row.text(0), row.text(1), row.text(3)]) \(row.integer(2))")
    }
    let expected = items.map {
      "\([$0.id, $0.title, $0.list?.key]) \($0.amount)"
    }
    if rows != expected { fatalError("the table has \(rows), not \(expected)") }
  }

  @MainActor func run(_ verbs: [String], _ path: String) async throws {
    let list = RecordList(store, of: I.self)
    for verb in verbs {
      let words = verb.split(separator: " ").map(String.init)
      switch words[0] {
      case "edit": for _ in 0..<Int(words[1])! { try await editAtRandom() }
      case "add":
        try await edit { $0.existing(I.self, words[1])?.amount.increment() }
      case "rename": try await rename(words[1], to: words[2])
      case "delete": try await edit { $0[I.self, words[1]].delete() }
      case "undo": try await undo()
      case "resolve": try await resolveConflicts()
      case "sync": try await sync()
      case "show": await show()
      default: fatalError("\(verb) is not a verb")
      }
    }
    await engine.stop()
    try await store.close()
    // The list fails after its last change.
    while list.failure == nil { await Task.yield() }
    try await check(list, path)
  }
}

let words = CommandLine.arguments
let (folder, device, verbs) = (words[1], words[3], Array(words[5...]))
let (server, path) = (URL(string: words[2])!, "\(folder)/\(device).sqlite")
if words[4] == "1" {
  try await Grocery<FirstItem>(folder, server, device: device).run(verbs, path)
} else {
  try await Grocery<SecondItem>(folder, server, device: device).run(verbs, path)
}
