// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// If a record cannot be saved, the others are saved.
@Suite struct PartialSaveTests {
  private func fullCounter(_ scene: Scene, _ key: String) throws {
    for _ in 0..<2 {
      try scene.mine.save { $0[Item.self, key].qty.increment(by: .max) }
    }
  }

  @Test func counterOverflowFailsOnlyItsRecord() throws {
    let scene = try Scene.withItem()
    try fullCounter(scene, "0")
    let context = scene.context(.merge)
    context.fetch(Item.self, key: "0").qty.increment(by: .max)
    context.fetch(Item.self, key: "0").name = "kept here"
    context.fetch(Item.self, key: "2").name = "new"
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    let full = RecordID("Item", "0")
    #expect(
      report.failedRecords == [full: .counterOverflow(full, field: "qty")])
    #expect(report.dot != nil)
    #expect(scene.item?.name == "mine")
    #expect(report.conflicts.map(\.record) == [Scene.item])
    #expect(scene.mine[Item.self, "2"]?.name == "new")
    #expect(scene.mine[Item.self, "0"]?.name == nil)
    #expect(context.hasChanges)
    #expect(context.fetch(Item.self, key: "0").name == "kept here")
    #expect(report.writtenFields[full] == nil)
  }

  @Test func reportListsEveryFailedRecord() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    for key in ["0", "3"] {
      try fullCounter(scene, key)
      context.fetch(Item.self, key: key).qty.increment(by: .max)
    }
    let report = try context.save()
    #expect(report.failedRecords.count == 2)
    #expect(report.names == ["name"])
  }

  @Test func saveOfOnlyFailedRecordTakesNoDot() throws {
    let scene = try Scene.withItem()
    try fullCounter(scene, "0")
    let context = EditingContext(scene.mine)
    context.fetch(Item.self, key: "0").qty.increment(by: .max)
    let clock = scene.mine.version
    let report = try context.save()
    #expect(report.failedRecords.count == 1 && report.dot == nil)
    #expect(scene.mine.version == clock)
    #expect(context.hasChanges)
  }

  @Test func applyRefusesOverflowInContext() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    let id = RecordID("Item", "2")
    func raise(by amount: Int64) -> Bool {
      context.apply(
        .count(CounterEdit(by: amount)), to: Item().qty.key, in: id)
    }
    #expect(raise(by: .max))
    #expect(raise(by: .max))
    #expect(!raise(by: .max))
    #expect(raise(by: 1))
    context.fetch(Item.self, key: "1").name = "mine"
    let report = try context.save()
    #expect(report.failedRecords.isEmpty)
    #expect(scene.mine[Item.self, "2"]?.qty == .max)
  }

  @Test func recordsShareOneDot() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "2").name = "new"
    context.fetch(Person.self, key: "p").name = "person"
    let report = try context.save()
    #expect(report.dot == Dot(DeviceID(1), 2))
    #expect(report.writtenFields.count == 3)
  }

  @Test func conflictOfOneRecordRefusesAll() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "2").name = "new"
    try scene.otherEdits { $0.name = "theirs" }
    #expect(throws: ContextSaveError.self) { try context.save() }
    #expect(scene.mine[Item.self, "2"] == nil)
    #expect(context.fetch(Item.self, key: "2").name == "new")
  }

  @Test func policyDecidesRecordByRecord() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.serverWins)
    context.fetch(Item.self, key: "2").name = "new"
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(Array(report.writtenFields.keys) == [RecordID("Item", "2")])
    #expect(scene.item?.name == "theirs")
  }

  @Test func exhaustedClockKeepsEdits() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    let late = Replica(
      device: DeviceID(4), schema: [Item.self], wallClock: WallClock { .max },
      makeDeviceID: { DeviceID(99) })
    try late.save { $0[Item.self, "1"].name = "x" }
    for _ in 0..<0xfffe { try late.save { $0[Item.self, "1"].ensureExists() } }
    let other = EditingContext(late)
    other.fetch(Item.self, key: "1").name = "last"
    try other.save()
    other.fetch(Item.self, key: "1").name = "too late"
    let error = #expect(throws: ContextSaveError.self) { try other.save() }
    guard case .save(.clockExhausted)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(other.fetch(Item.self, key: "1").name == "too late")
    scene.mine.merge(late)
    let report = try context.save()
    #expect(scene.item?.name == "mine")
    #expect(report.dropped.map { $0.field?.name } == ["name"])
  }
}
