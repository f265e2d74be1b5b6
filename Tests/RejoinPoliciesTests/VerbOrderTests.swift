// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// In a context, verbs apply in their order.
///
/// A write after a deletion creates the record again.
@Suite struct VerbOrderTests {
  /// Deletes the item, then sets its name and counts.
  private func recreating(
    _ scene: Scene, _ policy: MergePolicy
  ) -> EditingContext {
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.delete(Scene.item)
    context.set("again", for: Key.name, in: Scene.item)
    context.apply(.count(by: 2), to: Key.qty, in: Scene.item)
    return context
  }

  @Test(arguments: MergePolicy.named)
  func recreatedRecordHoldsBothEdits(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let report = try recreating(scene, policy).save()
    #expect(scene.mine.exists(Scene.item))
    #expect(scene.stored(Key.name).value == "again")
    #expect(scene.stored(Key.qty).count == 2)
    #expect(scene.stored(Key.note).value == nil)
    #expect(scene.stored(Key.theme).value == nil)
    #expect(scene.stored(Key.tags).elements.isEmpty)
    #expect(scene.stored(Key.log).total == 0)
    #expect(report.names == ["name"] && report.deletedRecords == [Scene.item])
    #expect(report.conflicts.isEmpty && report.dropped.isEmpty)
    #expect(report.survivingRecords.isEmpty, "the record exists intentionally")
    scene.send()
    #expect(scene.other.recordForEditing(Scene.item)[Key.name].value == "again")
    #expect(scene.other.recordForEditing(Scene.item)[Key.note].value == nil)
  }

  @Test func equalValueIsWrittenAfterDeletion() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    context.set("base", for: Key.name, in: Scene.item)
    #expect(try context.save().names == ["name"])
    #expect(scene.stored(Key.name).value == "base")
    #expect(scene.stored(Key.note).value == nil)
  }

  @Test func contextShowsResultOfVerbs() throws {
    let scene = try Scene.withItem()
    let context = recreating(scene, .error)
    let (id, item) = (Scene.item, context.fetch(Item.self, key: "1"))
    #expect(context.value(of: Key.name, in: id) == "again")
    #expect(context.value(of: Key.note, in: id) == nil)
    #expect(context.count(of: Key.qty, in: id) == 2)
    #expect(item.tags.elements == [] && item.log.total == 0)
    context.delete(id)
    #expect(context.value(of: Key.name, in: id) == nil)
    #expect(context.count(of: Key.qty, in: id) == 0)
    try context.save()
    #expect(!scene.mine.exists(id))
  }

  @Test func ensureExistsAfterDeletionCreatesEmptyRecord() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    context.ensureExists(Scene.item)
    try context.save()
    #expect(scene.mine.exists(Scene.item))
    #expect(scene.stored(Key.name).value == nil)
    #expect(scene.stored(Key.qty).count == 0)
  }

  @Test func ensureExistsCountsAsEdit() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.ensureExists(Scene.item)
    #expect(context.hasChanges)
    #expect(try context.save().dot == Dot(DeviceID(1), 2))
    #expect(scene.item?.name == "base")
  }

  @Test func deletingInsertedRecordInsertsNothing() throws {
    let scene = Scene()
    let context = scene.context(.error)
    context.delete(Scene.item)
    #expect(!context.hasChanges)
    #expect(try context.save().dot == nil)
    try scene.otherEdits(Key.note, .write("theirs"))
    #expect(scene.item?.note == "theirs")
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback, .serverWins,
    .custom { _ in .write("custom") },
  ])
  func refusedDeletionDropsRecreation(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = recreating(scene, policy)
    try scene.otherEdits(Key.note, .write("theirs"))
    let report = try context.save()
    #expect(report.dot == nil && report.names.isEmpty)
    #expect(scene.item?.name == "base" && scene.item?.qty == 10)
    #expect(report.dropped.map { $0.field } == [nil, Key.name, Key.qty])
    #expect(report.dropped.first?.content == .deletion)
    #expect(report.dropped.last?.content == .edit(.count(by: 2)))
    #expect(report.dropped.allSatisfy { $0.rule == policy.name })
    #expect(!context.hasChanges)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback, .serverWins, .manual,
  ])
  func refusedDeletionDropsEarlierEdits(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    context.set("n", for: Key.note, in: Scene.item)
    context.apply(.count(by: 3), to: Key.qty, in: Scene.item)
    context.delete(Scene.item)
    try scene.otherEdits(Key.tags, .inserting("theirs"))
    let report = try context.save()
    let reported = report.dropped.filter { $0.content != .deletion }
    #expect(reported.map(\.field) == [Key.name, Key.qty], "note had no edit")
    guard case .value(let dropped, let kept)? = reported.first?.content else {
      Issue.record("the name is not reported")
      return
    }
    #expect(dropped.value == "mine" && kept.value == "base")
    #expect(reported.last?.content == .edit(.count(by: 3)))
  }

  @Test func reportContainsEditAfterDeletion() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.serverWins)
    context.delete(Scene.item)
    context.set("last", for: Key.name, in: Scene.item)
    try scene.otherEdits(Key.note, .write("theirs"))
    let values = try context.save().dropped.compactMap { change -> Value? in
      guard case .value(let dropped, _) = change.content else { return nil }
      return dropped.value
    }
    #expect(values == ["last"])
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeNonNil,
    .lastWriteWins,
  ])
  func recreationOverridesConcurrentChanges(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = recreating(scene, policy)
    try scene.otherEdits(Key.note, .write("theirs"))
    try scene.otherEdits(Key.qty, .count(by: 100))
    let report = try context.save()
    #expect(scene.stored(Key.name).value == "again")
    #expect(scene.stored(Key.note).value == nil)
    #expect(scene.stored(Key.qty).count == 2)
    let fields = report.dropped.compactMap { $0.field }
    #expect(fields == [Key.note, Key.qty])
  }

  @Test func mergeRecreationKeepsConcurrentChanges() throws {
    let scene = try Scene.withItem()
    let context = recreating(scene, .merge)
    try scene.otherEdits(Key.note, .write("theirs"))
    try scene.otherEdits(Key.qty, .count(by: 100))
    let report = try context.save()
    #expect(scene.stored(Key.name).value == "again")
    #expect(scene.stored(Key.note).value == "theirs", "the note was not shown")
    #expect(scene.stored(Key.qty).count == 102)
    #expect(scene.stored(Key.tags).elements.isEmpty)
    #expect(report.dropped.isEmpty)
  }
}
