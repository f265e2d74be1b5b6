// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// A context with a register declared as `lww`: `theme` in ``Item``.
@Suite struct QuietRegisterContextTests {
  @Test(arguments: MergePolicy.named)
  func changeInStoreCausesNoConflict(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try scene.otherEdits { $0.theme = "theirs" }
    let report = try context.save()
    #expect(report.conflicts.isEmpty && report.dropped.isEmpty)
    #expect(report.names == ["name"])
    #expect(scene.item?.name == "mine" && scene.item?.theme == "theirs")
  }

  @Test(arguments: MergePolicy.named)
  func editSupersedesEverySiblingWithoutReport(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 9000)
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.fetch(Item.self, key: "1").theme = "mine"
    try scene.otherEdits { $0.theme = "theirs" }
    let report = try context.save()
    #expect(report.conflicts.isEmpty && report.dropped.isEmpty)
    #expect(report.names == ["theme"])
    #expect(scene.stored(Key.theme).writes.map(\.value) == ["mine"])
  }

  @Test func conflictElsewhereKeepsEditUnderError() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "1").theme = "mine"
    try scene.otherEdits { $0.name = "theirs" }
    #expect(throws: ContextSaveError.self) { try context.save() }
    #expect(context.value(of: Key.theme, in: Scene.item) == "mine")
    #expect(scene.item?.theme == "light")
  }

  @Test(arguments: [MergePolicy.rollback, .serverWins])
  func conflictElsewhereDropsAndReportsEdit(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    context.fetch(Item.self, key: "1").theme = "mine"
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(report.dropped.map(\.field) == [Key.name, Key.theme])
    guard case .value(let dropped, let kept)? = report.dropped.last?.content
    else {
      Issue.record("the dropped value is not reported")
      return
    }
    #expect(dropped.value == "mine" && kept.value == "light")
    #expect(scene.item?.theme == "light")
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump,
    .overwrite, .mergeNonNil, .lastWriteWins, .merge, .manual,
    .custom { _ in .keepStore },
  ])
  func conflictElsewhereLeavesEditPlain(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 9000)
    let context = scene.context(policy)
    context.fetch(Item.self, key: "1").theme = "mine"
    try scene.otherEdits { ($0.name, $0.theme) = ("theirs", "theirs") }
    let report = try context.save()
    #expect(!report.dropped.contains { $0.field == Key.theme })
    #expect(report.conflicts.first?.fields.map(\.field) == ["name"])
    #expect(scene.stored(Key.theme).writes.map(\.value) == ["mine"])
  }

  @Test func editOfDeletedRecordConflicts() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.fetch(Item.self, key: "1").theme = "mine"
    try scene.otherDeletes()
    #expect(throws: ContextSaveError.self) { try context.save() }
    #expect(!scene.mine.exists(Scene.item))
    context.mergePolicy = .serverWins
    let report = try context.save()
    #expect(report.conflicts.first?.others == [Key.theme])
    #expect(report.dropped.map(\.field) == [Key.theme])
    #expect(!scene.mine.exists(Scene.item))
  }

  @Test(arguments: MergePolicy.named)
  func deletionWithChangeInStoreCausesNoConflict(
    _ policy: MergePolicy
  ) throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.delete(Scene.item)
    try scene.otherEdits { $0.theme = "theirs" }
    let report = try context.save()
    #expect(report.conflicts.isEmpty && report.dropped.isEmpty)
    // The save did not see the change, and an update wins.
    #expect(report.survivingRecords.keys.first == Scene.item)
    #expect(scene.item?.theme == "theirs")
  }

  @Test func deletionWithChangeOfCounterConflicts() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    try scene.otherEdits {
      $0.theme = "theirs"
      $0.qty.increment()
    }
    #expect(throws: ContextSaveError.self) { try context.save() }
  }

  @Test func overwriteSetsShownValue() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try scene.otherEdits { ($0.name, $0.theme) = ("theirs", "theirs") }
    let report = try context.save()
    #expect(report.names == ["name", "theme"])
    #expect(scene.item?.theme == "light")
  }

  @Test func refreshingMovesCleanFieldForward() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try scene.otherEdits { $0.theme = "theirs" }
    context.refresh()
    #expect(context.value(of: Key.theme, in: Scene.item) == "theirs")
  }

  @Test func resolvingWritesPlainly() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.fetch(Scene.item)
    try scene.otherEdits { $0.theme = "theirs" }
    try context.resolve(Scene.item, [Key.theme: "settled"])
    #expect(scene.stored(Key.theme).writes.map(\.value) == ["settled"])
  }

  @Test func recreatedRecordHoldsOnlyLaterWrites() throws {
    let scene = try Scene.withItem(otherClock: 9000)
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    context.delete(Scene.item)
    context.fetch(Item.self, key: "1").theme = "mine"
    try scene.otherEdits { $0.theme = "theirs" }
    try context.save()
    #expect(scene.stored(Key.theme).writes.map(\.value) == ["mine"])
    #expect(scene.item?.name == nil)
  }

  @Test func draftSupersedesEverySibling() throws {
    let scene = try Scene.withItem(otherClock: 9000)
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.theme = "mine"
    try scene.otherEdits { $0.theme = "theirs" }
    try EditingContext(scene.mine).commit(&draft)
    #expect(scene.stored(Key.theme).writes.map(\.value) == ["mine"])
  }
}
