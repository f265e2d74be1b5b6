//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

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

/// Two devices: a context is on `mine`, and somebody else edits on `other`.
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
      clock: WallClock { time })
  }

  /// An item with a name and a note, on both devices.
  static func withItem(otherClock: Int64 = 1000) throws -> Scene {
    let scene = Scene(otherClock: otherClock)
    try scene.mine.save { edit in
      edit[Item.self, "1"].name = "base"
      edit[Item.self, "1"].note = "n"
      edit[Item.self, "1"].theme = "light"
      edit[Item.self, "1"].qty.increment(by: 10)
      edit[Item.self, "1"].tags.insert("a")
      edit[Item.self, "1"].tags.insert("b")
      edit[Item.self, "1"].log.append(5)
    }
    scene.send()
    return scene
  }

  /// A context in which the name of the item is edited.
  func context(_ policy: MergePolicy, name: String? = "mine") -> EditingContext
  {
    let context = EditingContext(mine, mergePolicy: policy)
    context.fetch(Item.self, "1").name = name
    return context
  }

  /// The other device edits the item, and we hear of it.
  func otherEdits(_ body: (RecordEditor<Item>) -> Void) throws {
    try other.save { body($0[Item.self, "1"]) }
    receive()
  }

  func send() {
    if let delta = mine.delta(since: other.clock) { other.apply(delta) }
  }

  func receive() {
    if let delta = other.delta(since: mine.clock) { mine.apply(delta) }
  }

  var item: TypedRecord<Item>? { mine[Item.self, "1"] }

  var nameConflicts: [String] { item?.conflicts(\.name) ?? [] }
}

extension ContextReport {
  /// The names of the fields written in the only record.
  var names: [String] {
    written.values.joined().map(\.text).sorted()
  }
}
