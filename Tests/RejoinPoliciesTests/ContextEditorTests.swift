// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Contexts use the editors of saves, and reading includes the edits.
@Suite struct ContextEditorTests {
  @Test func contextReadsSetsAndLedgers() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    let item = context.fetch(Item.self, key: "1")
    #expect(item.tags.elements == ["a", "b"] && item.log.total == 5)
    item.tags.insert("c")
    item.tags.remove("a")
    item.log.append(-2)
    item.qty.decrement(by: 3)
    #expect(item.tags.elements == ["b", "c"])
    #expect(item.tags.contains("c") && !item.tags.contains("a"))
    #expect(item.log.total == 3 && item.qty.value == 7)
    item.tags.removeAll()
    item.qty.set(to: 100)
    #expect(item.tags.elements == [] && item.qty.value == 100)
    #expect(scene.item?.tags == ["a", "b"], "nothing is saved yet")
    try context.save()
    #expect(scene.item?.tags == [] && scene.item?.qty == 100)
    #expect(scene.item?.log == 3)
  }

  @Test func saveReadsSetsAndLedgers() throws {
    let scene = try Scene.withItem()
    try scene.mine.save { transaction in
      let item = transaction[Item.self, "1"]
      item.tags.insert("c")
      item.log.append(1)
      #expect(item.tags.elements == ["a", "b", "c"])
      #expect(item.tags.contains("c"))
      #expect(item.log.total == 6)
      item.delete()
      #expect(item.tags.elements == [] && item.log.total == 0)
      item.ensureExists()
      #expect(item.tags.elements == [] && item.qty.value == 0)
    }
  }

  @Test func contextHidesFieldsOfDeletedRecord() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    try scene.otherDeletes()
    context.refresh()
    #expect(context.count(of: Key.qty, in: Scene.item) == 0)
    #expect(context.elements(of: Key.tags, in: Scene.item) == [])
    #expect(context.total(of: Key.log, in: Scene.item) == 0)
    #expect(context.value(of: Key.note, in: Scene.item) == nil)
  }

  @Test func counterOverflowFailsRecordAndKeepsEdits() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    let full = context.fetch(Item.self, key: "2")
    for _ in 0..<3 { full.qty.increment(by: .max) }
    let least = context.fetch(Item.self, key: "3")
    for _ in 0..<2 { least.qty.decrement(by: .min) }
    let report = try context.save()
    #expect(report.failedRecords.count == 2 && report.names == ["name"])
    #expect(context.hasChanges && scene.mine[Item.self, "2"] == nil)
    full.delete()
    least.delete()
    #expect(!context.hasChanges)
  }
}
