// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct RefreshTests {
  @Test func cleanFieldsMoveForward() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try scene.otherEdits { $0.note = "theirs" }
    #expect(context.fetch(Item.self, key: "1").note == "n")
    context.refresh()
    #expect(context.fetch(Item.self, key: "1").note == "theirs")
    #expect(context.fetch(Item.self, key: "1").name == "mine")
    #expect(try context.save().names == ["name"])
    #expect(scene.item?.note == "theirs")
  }

  @Test func refreshKeepsBaseOfDirtyField() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try scene.otherEdits { $0.name = "theirs" }
    context.refresh()
    #expect(context.fetch(Item.self, key: "1").name == "mine")
    #expect(throws: ContextSaveError.self) { try context.save() }
  }

  @Test func refreshKeepsSeenDotsOfDirtyField() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    try scene.otherEdits { $0.name = "theirs" }
    context.refresh()
    try context.save()
    #expect(scene.nameConflicts == ["theirs"])
  }

  @Test func refreshMovesSeenDotsOfCleanField() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    try scene.otherEdits { $0.note = "theirs" }
    context.refresh()
    context.fetch(Item.self, key: "1").note = "after"
    let report = try context.save()
    #expect(report.conflicts.isEmpty)
    #expect(scene.item?.note == "after")
    #expect(scene.item?.conflictingValues(of: \.note) == [])
  }

  @Test func pendingCounterEditKeepsSeenDots() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.apply(
      .count(CounterEdit(by: 1, isReset: true)), to: Item().qty.key,
      in: Scene.item)
    try scene.otherEdits { $0.qty.increment(by: 100) }
    context.refresh()
    try context.save()
    #expect(scene.item?.qty == 101)
  }

  @Test func cleanRecordIsFetchedAnew() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.fetch(Scene.item)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    context.refresh()
    #expect(context.fetch(Item.self, key: "1").name == nil)
    context.fetch(Item.self, key: "1").name = "again"
    try context.save()
    #expect(scene.item?.name == "again")
    #expect(scene.item?.note == nil, "created again")
  }

  @Test func refreshShowsDeletionOfEditedRecord() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    context.refresh()
    #expect(context.fetch(Item.self, key: "1").name == "mine")
    #expect(context.fetch(Item.self, key: "1").note == nil)
    #expect(throws: ContextSaveError.self) { try context.save() }
  }

  @Test func revertedFieldMovesForward() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "1").note = "mine"
    context.fetch(Item.self, key: "1").name = "base"
    try scene.otherEdits { $0.name = "theirs" }
    context.refresh()
    #expect(context.fetch(Item.self, key: "1").name == "theirs")
    #expect(try context.save().names == ["note"])
    #expect(scene.item?.name == "theirs")
  }

  @Test func automaticallyMergesChangesOnReading() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.automaticallyMergesChangesFromParent = true
    try scene.otherEdits { $0.note = "theirs" }
    #expect(context.fetch(Item.self, key: "1").note == "theirs")
    #expect(context.fetch(Item.self, key: "1").name == "mine")
  }

  @Test func automaticallyMergesChangesOnSaving() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.automaticallyMergesChangesFromParent = true
    try scene.otherEdits { $0.note = "theirs" }
    #expect(try context.save().conflicts.isEmpty)
    #expect(scene.item?.note == "theirs")
  }

  @Test func automaticMergingLeavesDirtyFieldsInConflict() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    context.automaticallyMergesChangesFromParent = true
    try scene.otherEdits { $0.name = "theirs" }
    #expect(context.fetch(Item.self, key: "1").name == "mine")
    #expect(try context.save().conflicts.count == 1)
    #expect(scene.nameConflicts == ["theirs"])
  }

  @Test func contextWithoutRefreshDoesNotMove() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try scene.otherEdits { $0.note = "theirs" }
    #expect(context.fetch(Item.self, key: "1").note == "n")
    #expect(throws: ContextSaveError.self) { try context.save() }
  }
}
