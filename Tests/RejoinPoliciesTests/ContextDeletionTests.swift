// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct ContextDeletionTests {
  private func deletingContext(
    _ scene: Scene, _ policy: MergePolicy
  ) -> EditingContext {
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.fetch(Item.self, key: "1").delete()
    return context
  }

  @Test(arguments: MergePolicy.named)
  func deletionWithoutConflictDeletes(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let report = try deletingContext(scene, policy).save()
    #expect(scene.item == nil)
    #expect(report.dot != nil && report.names.isEmpty)
    #expect(report.dropped.isEmpty && report.conflicts.isEmpty)
  }

  @Test func errorRefusesDeletionOfChangedRecord() throws {
    let scene = try Scene.withItem()
    let context = deletingContext(scene, .error)
    try scene.otherEdits { $0.name = "theirs" }
    let error = #expect(throws: ContextSaveError.self) { try context.save() }
    guard case .conflict(let conflict)? = error else { return }
    #expect(conflict.conflicts.first?.isDeletion == true)
    #expect(
      conflict.conflicts.first?.contested.map(\.field) == ["name"])
    #expect(scene.item?.name == "theirs")
    #expect(context.hasChanges)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback, .serverWins,
    .custom { _ in .write("custom") },
  ])
  func storeWins(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = deletingContext(scene, policy)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(scene.item?.name == "theirs")
    #expect(report.dot == nil)
    #expect(report.names.isEmpty)
    #expect(report.dropped.map(\.content) == [.deletion])
    #expect(report.dropped.first?.field == nil)
    #expect(report.dropped.first?.rule == policy.name)
    #expect(!context.hasChanges)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeNonNil,
    .lastWriteWins,
  ])
  func contextWins(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = deletingContext(scene, policy)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(scene.item == nil)
    #expect(report.conflicts.count == 1)
    #expect(
      report.deletedRecords == [Scene.item] && report.survivingRecords.isEmpty)
    #expect(report.dropped.map(\.field) == [Key.name])
  }

  /// A refresh shows the note, but not a new value of the edited name.
  @Test(arguments: [true, false])
  func deletionDoesNotCoverUnshownSave(isOther: Bool) throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    for key in [Key.name, Key.note] {
      if isOther {
        try scene.otherEdits(key, .write("theirs"))
      } else {
        try scene.mine.save {
          $0.apply(.write("theirs"), to: key, of: Scene.item)
        }
      }
    }
    context.refresh()
    context.delete(Scene.item)
    let report = try context.save()
    #expect(report.deletedRecords == [Scene.item])
    #expect(scene.item?.name == "theirs")
    #expect(report.survivingRecords[Scene.item]?.count == 1)
  }

  @Test func deletionReportsUnseenMark() throws {
    let scene = try Scene.withItem()
    let context = deletingContext(scene, .overwrite)
    try scene.other.save { $0[Item.self, "1"].ensureExists() }
    scene.receive()
    let report = try context.save()
    #expect(scene.item == nil)
    #expect(report.dropped.map(\.field) == [.existence])
  }

  @Test func mergeKeepsUpdateOfDeletedRecord() throws {
    let scene = try Scene.withItem()
    let context = deletingContext(scene, .merge)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(report.dot != nil)
    #expect(report.dropped.isEmpty)
    #expect(scene.item?.name == "theirs", "the update wins")
    #expect(report.deletedRecords == [Scene.item])
    #expect(
      report.survivingRecords[Scene.item]?.map(\.device) == [DeviceID(2)],
      "the report lists the save that keeps the record")
  }

  @Test func editsBeforeDeletionAreNotWritten() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "1").qty.increment()
    context.fetch(Item.self, key: "1").delete()
    #expect(try context.save().names.isEmpty)
    #expect(scene.item == nil)
    let fetched = scene.mine.recordForEditing(Scene.item)
    #expect(fetched[Item().qty.key].count == 10)
  }

  @Test(arguments: MergePolicy.named)
  func editOfDeletedRecordFollowsPolicy(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try scene.other.save { $0[Item.self, "1"].delete() }
    scene.receive()
    #expect(scene.item == nil)
    let report = try? context.save()
    let names = report?.conflicts.first?.contested.map(\.field)
    switch policy {
    case .error:
      #expect(report == nil && scene.item == nil)
    case .mergeByPropertyStoreTrump, .rollback, .serverWins, .manual:
      #expect(names == ["name"] && scene.item == nil)
    default:
      #expect(names == ["name"])
      #expect(scene.item?.name == "mine")
      #expect(scene.item?.note == "n", "not created again")
      #expect(scene.item?.qty == 10)
    }
  }

  @Test func writeIsConcurrentWithDeletion() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    try context.save()
    let marks = scene.mine.recordForEditing(Scene.item)[.existence].marks
    #expect(marks.map(\.kind) == [.deletion])
    #expect(scene.item?.name == "mine")
  }

  @Test func recordDeletedBeforeFetchIsRecreated() throws {
    let scene = try Scene.withItem()
    try scene.mine.save { $0[Item.self, "1"].delete() }
    let context = scene.context(.error)
    let report = try context.save()
    #expect(report.conflicts.isEmpty)
    #expect(scene.item?.name == "mine")
    #expect(scene.item?.note == nil)
    #expect(scene.item?.theme == nil)
    #expect(scene.item?.qty == 0)
    #expect(scene.item?.tags == [])
    #expect(scene.item?.log == 0)
  }

  @Test func deletingDeletedRecordTakesNoDot() throws {
    let scene = try Scene.withItem()
    let context = deletingContext(scene, .overwrite)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    #expect(try context.save().dot == nil)
  }

  /// Returns a context that fetched a deleted record, which an update then
  /// restored.
  private func revivedContext(
    _ scene: Scene, _ policy: MergePolicy
  ) throws -> EditingContext {
    try scene.mine.save { $0[Item.self, "1"].delete() }
    let context = scene.context(policy)
    try scene.otherEdits { $0.name = "theirs" }
    #expect(scene.item?.qty == 10)
    return context
  }

  @Test func revivedRecordIsNotRecreated() throws {
    let scene = try Scene.withItem()
    let context = try revivedContext(scene, .merge)
    try context.save()
    #expect(scene.item?.name == "mine")
    #expect(scene.item?.note == "n")
    #expect(scene.item?.qty == 10)
  }

  @Test func overwriteSetsRevivedRecordToShownValues() throws {
    let scene = try Scene.withItem()
    let context = try revivedContext(scene, .overwrite)
    try context.save()
    #expect(scene.item?.qty == 0)
    #expect(scene.item?.tags == [])
    #expect(scene.item?.note == nil)
  }

  @Test func overwriteWritesHiddenFields() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    let dot = try #require(try context.save().dot)
    let fetched = scene.mine.recordForEditing(Scene.item)
    #expect(fetched[Item().qty.key].clock.contains(dot))
    #expect(fetched[Item().tags.key].clock.contains(dot))
    #expect(scene.item?.qty == 10)
    #expect(scene.item?.tags == ["a", "b"])
  }

  @Test func deletionConflictsWithEditOfUnsetField() throws {
    let scene = Scene()
    try scene.mine.save { $0[Item.self, "1"].qty.increment() }
    let context = scene.context(.error)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    #expect(throws: ContextSaveError.self) { try context.save() }
  }
}
