// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct ManualTests {
  private func queuedContext(_ scene: Scene) throws -> EditingContext {
    let context = scene.context(.manual)
    context.fetch(Item.self, key: "1").note = "my note"
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(report.names == ["note"])
    #expect(report.dropped.isEmpty)
    return context
  }

  @Test func contestedFieldIsQueued() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    let conflict = try #require(context.pendingConflicts.first)
    #expect(context.pendingConflicts.count == 1)
    #expect(conflict.record == Scene.item)
    #expect(!conflict.isDeletion)
    #expect(conflict.contested.map(\.field) == ["name"])
    #expect(conflict.contested.map(\.base) == ["base"])
    #expect(conflict.contested.map(\.mine) == ["mine"])
    #expect(conflict.contested.map(\.store) == ["theirs"])
    #expect(scene.item?.name == "theirs")
    #expect(scene.item?.note == "my note")
  }

  @Test func resolvingSupersedesDisplayedValues() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    let report = try context.resolve(
      Scene.item, [Item().name.key: "settled"])
    #expect(report.dot != nil)
    #expect(context.pendingConflicts.isEmpty)
    #expect(scene.item?.name == "settled")
    #expect(scene.nameConflicts == [])
    #expect(context.fetch(Item.self, key: "1").name == "settled")
  }

  @Test func laterSiblingSurvivesResolution() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    let third = Scene.replica(3, at: 5000)
    try third.save { $0[Item.self, "1"].name = "later" }
    scene.mine.merge(third)
    #expect(scene.item?.name == "later")
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    #expect(scene.item?.name == "settled")
    #expect(scene.nameConflicts == ["later"])
  }

  @Test func refreshDoesNotDisplayConflictAgain() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    let third = Scene.replica(3, at: 5000)
    try third.save { $0[Item.self, "1"].name = "later" }
    scene.mine.merge(third)
    context.refresh()
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    #expect(scene.nameConflicts == ["later"])
  }

  @Test func unqueuedFieldResolvesAsFetched() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    context.refresh()
    try scene.otherEdits { $0.note = "unseen" }
    try context.resolve(Scene.item, [Item().note.key: "settled"])
    #expect(scene.item?.note == "settled")
    #expect(scene.item?.conflictingValues(of: \.note) == ["unseen"])
    #expect(context.pendingConflicts.count == 1)
  }

  @Test func resolvingUnsetsField() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    try context.resolve(Scene.item, [Item().name.key: nil])
    #expect(scene.item != nil)
    #expect(scene.item?.name == nil)
    #expect(scene.nameConflicts == [])
  }

  @Test func fieldsOfConflictAreResolvedOneByOne() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.manual)
    context.fetch(Item.self, key: "1").note = "my note"
    try scene.otherEdits { item in
      item.name = "theirs"
      item.note = "their note"
    }
    try context.save()
    #expect(context.pendingConflicts.first?.contested.count == 2)
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    #expect(context.pendingConflicts.first?.contested.map(\.field) == ["note"])
    try context.resolve(Scene.item, [Item().note.key: "settled"])
    #expect(context.pendingConflicts.isEmpty)
    #expect(scene.item?.conflictingValues(of: \.note) == [])
  }

  @Test func resolvingKeepsOtherEdits() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    context.fetch(Item.self, key: "1").note = "edited meanwhile"
    context.fetch(Item.self, key: "1").qty.increment()
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    #expect(context.fetch(Item.self, key: "1").note == "edited meanwhile")
    try context.save()
    #expect(scene.item?.note == "edited meanwhile")
    #expect(scene.item?.name == "settled")
    #expect(scene.item?.qty == 11)
  }

  @Test func conflictOfOtherRecordStays() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    let second = RecordID("Item", "2")
    try context.resolve(second, [Item().name.key: "new"])
    #expect(context.pendingConflicts.count == 1)
    #expect(scene.mine[Item.self, "2"]?.name == "new")
  }

  @Test func resolvingRecreatesDeletedRecord() throws {
    let scene = try Scene.withItem()
    try scene.mine.save { $0[Item.self, "1"].delete() }
    let context = EditingContext(scene.mine, mergePolicy: .manual)
    context.fetch(Scene.item)
    try context.resolve(Scene.item, [Item().name.key: "new"])
    #expect(scene.item?.name == "new")
    #expect(scene.item?.note == nil)
    #expect(scene.item?.qty == 0)
  }

  @Test func resolvingDiscardsEditOfField() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    context.fetch(Item.self, key: "1").name = "edited meanwhile"
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    #expect(!context.hasChanges)
    #expect(context.fetch(Item.self, key: "1").name == "settled")
  }

  @Test func resolvingLeavesNoMark() throws {
    let scene = try Scene.withItem()
    let context = try queuedContext(scene)
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    let existence = scene.mine.recordForEditing(Scene.item)[.existence]
    #expect(existence.clock.isEmpty)
  }
}
