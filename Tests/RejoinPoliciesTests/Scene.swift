// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

struct Person: Entity {
  let name = register("name", of: String.self)
  let address = register("address", of: String.self)
  let phone = register("phone", of: String.self)
  let birthday = register("birthday", of: String.self)
}

struct Item: Entity {
  let name = register("name", of: String.self)
  let note = register("note", of: String.self)
  let theme = lww("theme", of: String.self)
  let qty = counter("qty")
  let tags = set("tags", of: String.self)
  let log = ledger("log")
}

/// Two devices.
///
/// The context belongs to `mine`, and `other` edits concurrently.
struct Scene {
  static let item = RecordID("Item", "1")

  let mine: Replica
  let other: Replica

  init(otherClock: Int64 = 1000) {
    mine = Scene.replica(1)
    other = Scene.replica(2, at: otherClock)
  }

  static func replica(_ device: UInt64, at time: Int64 = 1000) -> Replica {
    Replica(
      device: DeviceID(device), schema: [Person.self, Item.self],
      wallClock: WallClock { time },
      makeDeviceID: { DeviceID(99) })
  }

  /// Returns two devices with an item that has a name and a note.
  static func withItem(otherClock: Int64 = 1000) throws -> Scene {
    let scene = Scene(otherClock: otherClock)
    try scene.mine.save { transaction in
      transaction[Item.self, "1"].name = "base"
      transaction[Item.self, "1"].note = "n"
      transaction[Item.self, "1"].theme = "light"
      transaction[Item.self, "1"].qty.increment(by: 10)
      transaction[Item.self, "1"].tags.insert("a")
      transaction[Item.self, "1"].tags.insert("b")
      transaction[Item.self, "1"].log.append(5)
    }
    scene.send()
    return scene
  }

  /// Returns a context with an edit of the item's name.
  func context(_ policy: MergePolicy, name: String? = "mine") -> EditingContext
  {
    let context = EditingContext(mine, mergePolicy: policy)
    context.fetch(Item.self, key: "1").name = name
    return context
  }

  /// The other device edits the item, and `mine` receives it.
  func otherEdits(_ body: (RecordEditor<Item>) -> Void) throws {
    try other.save { body($0[Item.self, "1"]) }
    receive()
  }

  func send() {
    if let delta = mine.delta(since: other.version) { other.apply(delta) }
  }

  func receive() {
    if let delta = other.delta(since: mine.version) { mine.apply(delta) }
  }

  var item: TypedRecord<Item>? { mine[Item.self, "1"] }

  var nameConflicts: [String?] { item?.conflictingValues(of: \.name) ?? [] }
}

extension ContextReport {
  /// The names of the fields written in the only record.
  var names: [String] {
    writtenFields.values.joined().map(\.text).sorted()
  }
}

/// The keys of an item's fields, for the untyped API.
enum Key {
  static let name = FieldKey("name", .register)
  static let note = FieldKey("note", .register)
  static let theme = FieldKey("theme", .register)
  static let qty = FieldKey("qty", .counter)
  static let tags = FieldKey("tags", .set)
  static let log = FieldKey("log", .ledger)
}

extension FieldEdit {
  static func count(by amount: Int64) -> FieldEdit {
    .count(CounterEdit(by: amount))
  }

  static func inserting(_ elements: Value...) -> FieldEdit {
    .members(SetEdit(inserting: elements))
  }

  static func appending(_ amount: Int64) -> FieldEdit {
    var edit = LedgerEdit()
    edit.append(amount, memo: nil)
    return .append(edit)
  }
}

extension Scene {
  /// The other device edits a field of the item, and `mine` receives it.
  func otherEdits(_ key: FieldKey, _ edit: FieldEdit) throws {
    try other.save { $0.apply(edit, to: key, of: Scene.item) }
    receive()
  }

  /// The other device deletes the item, and `mine` receives it.
  func otherDeletes() throws {
    try other.save { $0.delete(Scene.item) }
    receive()
  }

  /// Returns the stored state of a field of the item.
  func stored(_ key: FieldKey) -> FieldState {
    mine.recordForEditing(Scene.item)[key]
  }
}
