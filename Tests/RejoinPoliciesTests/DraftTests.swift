// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct DraftTests {
  @Test func draftIsEditedOnMainActorAndCommittedLater() async throws {
    let scene = try Scene.withItem()
    let draft = scene.mine.draft(Scene.item)
    var edited = await Task { @MainActor in
      var draft = draft
      draft.set("mine", for: Key.name)
      draft.apply(.count(by: 5), to: Key.qty)
      return draft
    }.value
    #expect(!draft.hasChanges && edited.hasChanges)
    #expect(scene.item?.name == "base", "nothing is saved yet")
    let report = try EditingContext(scene.mine).commit(&edited)
    #expect(report.names == ["name"])
    #expect(scene.item?.name == "mine" && scene.item?.qty == 15)
  }

  @Test func draftSupersedesOnlyItsBase() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(Scene.item)
    draft.set("mine", for: Key.name)
    try scene.otherEdits(Key.name, .write("theirs"))
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    let report = try context.commit(&draft)
    #expect(report.conflicts.count == 1)
    #expect(scene.item?.name == "mine")
    #expect(scene.nameConflicts == ["theirs"])
  }

  @Test func refusedDraftStaysWithCaller() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(Scene.item)
    draft.set("mine", for: Key.name)
    try scene.otherEdits(Key.name, .write("theirs"))
    let context = EditingContext(scene.mine)
    #expect(throws: DraftError.self) { try context.commit(&draft) }
    #expect(!context.hasChanges && scene.item?.name == "theirs")
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.commit(&draft)
    #expect(scene.item?.name == "mine")
  }

  @Test func draftReadsEditedValues() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(Scene.item)
    draft.apply(.inserting("c"), to: Key.tags)
    draft.apply(.appending(7), to: Key.log)
    draft.apply(.count(by: 1), to: Key.qty)
    #expect(draft.elements(of: Key.tags) == ["a", "b", "c"])
    #expect(draft.total(of: Key.log) == 12)
    #expect(draft.count(of: Key.qty) == 11)
    #expect(draft.value(of: Key.note) == "n")
    draft.delete()
    #expect(draft.value(of: Key.note) == nil)
    #expect(draft.elements(of: Key.tags) == [])
    draft.ensureExists()
    try EditingContext(scene.mine).commit(&draft)
    #expect(scene.mine.exists(Scene.item) && scene.item?.note == nil)
  }

  @Test func severalDraftsShareOneDot() throws {
    let scene = try Scene.withItem()
    var drafts = ["1", "2"].map { scene.mine.draft(RecordID("Item", $0)) }
    for i in drafts.indices { drafts[i].set("new", for: Key.name) }
    let report = try EditingContext(scene.mine).commit(&drafts)
    #expect(drafts.allSatisfy { $0.isCommitted })
    #expect(report.dot == Dot(DeviceID(1), 2))
    #expect(report.writtenFields.count == 2)
  }

  @Test func committingDraftKeepsEditsInContext() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.fetch(Scene.item)
    let other = RecordID("Item", "2")
    context.set("pending", for: Key.name, in: other)
    var draft = scene.mine.draft(Scene.item)
    draft.set("mine", for: Key.name)
    try context.commit(&draft)
    #expect(context.value(of: Key.name, in: Scene.item) == "mine")
    #expect(context.hasChanges && !scene.mine.exists(other))
    context.set("later", for: Key.name, in: Scene.item)
    var again = scene.mine.draft(Scene.item)
    again.set("other", for: Key.note)
    try context.commit(&again)
    #expect(context.value(of: Key.name, in: Scene.item) == "later")
  }

  @Test func draftReadsAndEditsDeclaredFields() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    #expect(draft.name == "base" && draft.theme == "light")
    #expect(draft.qty == 10 && draft.tags == ["a", "b"] && draft.log == 5)
    draft.name = "mine"
    draft.theme = nil
    let count = draft.edit { item in
      item.qty.increment(by: 5)
      item.tags.remove("a")
      item.log.append(1)
      return item.qty.value
    }
    #expect(count == 15 && draft.qty == 15)
    #expect(draft.name == "mine" && draft.tags == ["b"] && draft.log == 6)
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(report.names == ["name", "theme"])
    #expect(scene.item?.tags == ["b"] && scene.item?.theme == nil)
    draft = scene.mine.draft(of: Item.self, key: "1")
    draft.edit { $0.delete() }
    draft.edit { $0.ensureExists() }
    #expect(draft.name == nil)
    try EditingContext(scene.mine).commit(&draft)
    #expect(scene.item != nil && scene.item?.name == nil)
  }

  @Test func overflowIsReportedAndDraftIsKept() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.edit { item in
      for _ in 0..<3 { item.qty.increment(by: .max) }
      item.name = "mine"
    }
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(
      report.failedRecords
        == [Scene.item: .counterOverflow(Scene.item, field: "qty")])
    #expect(report.dot == nil && draft.hasChanges)
    draft.edit { $0.delete() }
    try EditingContext(scene.mine).commit(&draft)
    #expect(scene.item == nil)
  }

  @Test func draftsOfTwoEntitiesAreOneSave() throws {
    let scene = try Scene.withItem()
    var item = scene.mine.draft(of: Item.self, key: "1")
    var person = scene.mine.draft(of: Person.self, key: "p")
    item.edit { $0.qty.increment(by: 5) }
    person.name = "Ada"
    let count = try #require(item.qty as Int64?)
    var drafts = [RecordDraft<AnyEntity>(item), RecordDraft(person)]
    let report = try EditingContext(scene.mine).commit(&drafts)
    #expect(drafts.allSatisfy { $0.isCommitted })
    #expect(report.writtenFields.keys.map(\.key) == ["p"])
    #expect(scene.item?.qty == count)
    #expect(scene.mine[Person.self, "p"]?.name == "Ada")
  }

  @Test func committingDraftTwiceThrows() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(Scene.item)
    draft.apply(.count(by: 5), to: Key.qty)
    let context = EditingContext(scene.mine)
    try context.commit(&draft)
    #expect(draft.isCommitted)
    let error = #expect(throws: DraftError.self) {
      try context.commit(&draft)
    }
    guard case .committed(Scene.item)? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(scene.item?.qty == 15)
  }

  @Test func refusedDraftCanBeCommittedLater() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(Scene.item)
    draft.apply(.count(by: 5), to: Key.qty)
    draft.set("mine", for: Key.name)
    try scene.otherEdits(Key.name, .write("theirs"))
    #expect(throws: DraftError.self) {
      try EditingContext(scene.mine).commit(&draft)
    }
    #expect(!draft.isCommitted)
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    try context.commit(&draft)
    #expect(draft.isCommitted && scene.item?.qty == 15)
  }

  @Test func committingDraftWithMissingSavesThrows() throws {
    let scene = try Scene.withItem()
    try scene.mine.save { $0[Item.self, "1"].name = "shown" }
    var draft = scene.mine.draft(Scene.item)
    draft.set("mine", for: Key.name)
    let state = scene.other.delta()
    let error = #expect(throws: DraftError.self) {
      try EditingContext(scene.other).commit(&draft)
    }
    guard case .missingSaves(Scene.item, let saves)? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(saves == [DeviceID(1): 2])
    #expect(scene.other.delta() == state && !draft.isCommitted)
    scene.send()
    try EditingContext(scene.other).commit(&draft)
    #expect(scene.other[Item.self, "1"]?.name == "mine")
  }

  @Test func draftResolvesConflictWithShownValue() throws {
    let scene = try Scene.withItem()
    try scene.other.save { $0[Item.self, "1"].name = "theirs" }
    try scene.mine.save { $0[Item.self, "1"].name = "shown" }
    scene.receive()
    let shown = try #require(scene.item?.name)
    #expect(scene.nameConflicts.count == 1)
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.name = shown
    #expect(!draft.hasChanges, "writing a shown value back is not an edit")
    draft.resolve(\.name, with: shown)
    draft.name = shown
    #expect(draft.hasChanges)
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(report.names == ["name"] && report.conflicts.isEmpty)
    #expect(scene.item?.name == shown && scene.nameConflicts == [])
  }

  @Test func resolvingDraftKeepsLaterSibling() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.resolve(\.name, with: "mine")
    try scene.otherEdits { $0.name = "later" }
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(report.conflicts.isEmpty && report.dropped.isEmpty)
    #expect(scene.item?.name == "mine")
    #expect(scene.nameConflicts == ["later"])
  }

  /// The user may also choose the shown value.
  @Test(arguments: ["mine", "base"])
  func rollbackReportsDroppedResolution(with choice: String) throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.resolve(\.name, with: choice)
    draft.note = "n2"
    try scene.otherEdits { $0.note = "theirs" }
    let context = EditingContext(scene.mine, mergePolicy: .rollback)
    let report = try context.commit(&draft)
    #expect(report.dropped.compactMap(\.field) == [Key.note, Key.name])
    #expect(scene.item?.name == "base")
  }

  @Test func resolutionOfDeletedRecordConflicts() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.resolve(\.name, with: "mine")
    try scene.otherDeletes()
    let context = EditingContext(scene.mine, mergePolicy: .error)
    #expect(throws: DraftError.self) { try context.commit(&draft) }
    draft.edit { $0.delete() }
    draft.resolve(\.name, with: "again")
    #expect(draft.name == "again")
  }
}
