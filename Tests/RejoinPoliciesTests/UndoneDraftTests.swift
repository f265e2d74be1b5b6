// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Undo of the saves of contexts and drafts.
@Suite struct UndoneDraftTests {
  @Test func undoRevertsDraft() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.name = "mine"
    draft.edit { $0.qty.increment(by: 5) }
    try EditingContext(scene.mine).commit(&draft, undoable: "Edit item")
    #expect(scene.mine.undoHistory.undoName == "Edit item")
    guard case .done(let report) = try scene.mine.undo() else {
      Issue.record("nothing was undone")
      return
    }
    #expect(report.unrevertedFields.isEmpty)
    #expect(scene.item?.name == "base" && scene.item?.qty == 10)
    #expect(scene.mine.undoHistory.redoName == "Edit item")
    try scene.mine.redo()
    #expect(scene.item?.name == "mine" && scene.item?.qty == 15)
  }

  @Test func undoOfDraftKeepsUnseenWrite() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.name = "mine"
    try scene.otherEdits(Key.name, .write("theirs"))
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    try context.commit(&draft, undoable: "Edit item")
    #expect(scene.nameConflicts == ["theirs"])
    try scene.mine.undo()
    #expect(scene.item?.name == "theirs" && scene.nameConflicts == [])
  }

  @Test func undoRevertsContext() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.mergeByPropertyObjectTrump)
    context.fetch(Person.self, key: "ada").name = "Ada"
    try context.save(undoable: "Save")
    #expect(scene.item?.name == "mine")
    try scene.mine.undo()
    #expect(scene.item?.name == "base" && scene.mine[Person.self, "ada"] == nil)
  }

  @Test func undoRevertsDeletionInContext() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.fetch(Item.self, key: "1").delete()
    try context.save(undoable: "Delete")
    #expect(scene.item == nil)
    try scene.mine.undo()
    #expect(scene.item?.name == "base" && scene.item?.qty == 10)
  }

  @Test func undoRevertsResolution() throws {
    let scene = try Scene.withItem()
    try scene.mine.save { $0[Item.self, "1"].name = "mine" }
    try scene.other.save { $0[Item.self, "1"].name = "theirs" }
    scene.mine.merge(scene.other)
    let shown = scene.item?.name
    let context = EditingContext(scene.mine)
    try context.resolve(
      Scene.item, [Key.name: "chosen"], undoable: "Resolve")
    #expect(scene.item?.name == "chosen" && scene.nameConflicts == [])
    try scene.mine.undo()
    #expect(scene.item?.name == shown)
  }

  /// The mark of the context keeps the record despite an unseen deletion.
  @Test func redoKeepsRecordDespiteUnseenDeletion() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    context.fetch(Item.self, key: "1").ensureExists()
    try scene.other.save { $0[Item.self, "1"].delete() }
    scene.mine.merge(scene.other)
    try context.save(undoable: "Keep")
    #expect(scene.item != nil)
    try scene.mine.undo()
    #expect(scene.item == nil)
    try scene.mine.redo()
    #expect(scene.item?.name == "base")
    try scene.mine.undo()
    #expect(scene.item == nil)
  }

  /// The edit of another device keeps the record before and after the undo.
  @Test func undoWithUnseenEditRevertsAllFields() throws {
    let scene = try Scene.withItem()
    try scene.other.save { $0[Item.self, "1"].qty.increment() }
    try scene.mine.save { $0[Item.self, "1"].delete() }
    scene.mine.merge(scene.other)
    try scene.mine.save(undoable: "Rename") { $0[Item.self, "1"].name = "new" }
    guard case .done(let report) = try scene.mine.undo() else {
      Issue.record("the save is not undone")
      return
    }
    #expect(report.unrevertedFields.isEmpty)
    #expect(scene.item?.name == "base" && scene.item?.qty == 11)
  }

  /// The new record lacks the contents that the deletion hid.
  @Test func recreationPreventsUndoOfDeletion() throws {
    let scene = try Scene.withItem()
    try scene.mine.save(undoable: "Delete") { $0[Item.self, "1"].delete() }
    scene.other.merge(scene.mine)
    try scene.other.save { $0[Item.self, "1"].name = "new" }
    scene.mine.merge(scene.other)
    #expect(
      try scene.mine.undo()
        == .prevented([.init(record: Scene.item, field: .existence)]))
    #expect(scene.item?.name == "new" && scene.item?.qty == 0)
    #expect(scene.mine.undoHistory.undoName == "Delete")
  }

  @Test func contextWithoutNameIsNotUndoable() throws {
    let scene = try Scene.withItem()
    try scene.context(.merge).save()
    #expect(try scene.mine.undo() == .nothing)
  }

  @Test func draftOfEmptyKeyFails() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "")
    draft.name = "mine"
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(
      report.failedRecords[draft.id] == SaveError.emptyKey(entity: "Item"))
    #expect(!draft.isCommitted && report.dot == nil)
  }

  @Test func draftOfLongKeyFails() throws {
    let scene = try Scene.withItem()
    let key = String(repeating: "k", count: RecordID.keyByteLimit + 1)
    var draft = scene.mine.draft(of: Item.self, key: key)
    draft.name = "mine"
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(
      report.failedRecords[draft.id]
        == SaveError.keyTooLong(draft.id, limit: 1_024))
    #expect(!draft.isCommitted && report.dot == nil)
  }

  @Test func tooLargeRecordStaysInContext() throws {
    let scene = try Scene.withItem()
    scene.mine.recordByteLimit = 1000
    let context = scene.context(.merge)
    let text = String(repeating: "x", count: 2000)
    context.fetch(Item.self, key: "1").name = text
    context.fetch(Item.self, key: "2").name = "two"
    let report = try context.save()
    let failed = try #require(report.failedRecords[Scene.item])
    guard case .recordTooLarge(Scene.item, let byteCount) = failed else {
      throw failed
    }
    #expect(byteCount > 2000)
    #expect(report.failedRecords.count == 1 && report.dot != nil)
    #expect(scene.mine[Item.self, "2"]?.name == "two")
    context.fetch(Item.self, key: "1").name = "one"
    #expect(try context.save().failedRecords.isEmpty)
    #expect(scene.item?.name == "one")
  }
}
