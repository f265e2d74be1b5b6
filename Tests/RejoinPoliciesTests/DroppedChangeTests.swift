// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct DroppedChangeTests {
  private func drop(
    _ policy: MergePolicy, _ scene: Scene
  ) throws -> (dropped: DroppedChange.Side, kept: DroppedChange.Side)? {
    let context = scene.context(policy)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(report.dropped.count == 1)
    let change = try #require(report.dropped.first)
    #expect(change.record == Scene.item)
    #expect(change.field == Item().name.key)
    #expect(change.rule == policy.name)
    guard case .value(let dropped, let kept) = change.content else {
      return nil
    }
    return (dropped, kept)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback, .serverWins,
    .custom { _ in .keepStore },
  ])
  func droppedEditIsReported(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 7000)
    let (dropped, kept) = try #require(try drop(policy, scene))
    #expect(dropped.value == "mine")
    #expect(dropped.device == DeviceID(1))
    #expect(dropped.time == nil, "the edit was never saved")
    #expect(kept.value == "theirs")
    #expect(kept.device == DeviceID(2))
    #expect(kept.time?.milliseconds == 7000)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite,
    .custom { .write($0.mine) },
  ])
  func droppedStoreValueIsReported(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 7000)
    let (dropped, kept) = try #require(try drop(policy, scene))
    #expect(dropped.value == "theirs")
    #expect(dropped.device == DeviceID(2))
    #expect(dropped.time?.milliseconds == 7000)
    #expect(kept.value == "mine")
    #expect(kept.device == DeviceID(1))
  }

  @Test func overwriteReportsUneditedFields() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(report.names == ["name", "note"])
    #expect(report.dropped.map { $0.field?.name } == ["note"])
  }

  @Test func equalValuesAreNotDropped() throws {
    for policy in MergePolicy.named where policy.name != "error" {
      let scene = try Scene.withItem()
      let context = scene.context(policy)
      try scene.otherEdits { $0.name = "mine" }
      #expect(try context.save().dropped.isEmpty, "\(policy.name)")
      #expect(scene.item?.name == "mine")
    }
  }

  @Test func rollbackDropsDisjointEdits() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.rollback)
    context.fetch(Item.self, key: "1").theme = "dark"
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(report.dropped.map { $0.field?.name } == ["name", "theme"])
  }

  @Test func hiddenValueIsNotReportedAsKept() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.serverWins)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    let report = try context.save()
    guard case .value(let dropped, let kept)? = report.dropped.first?.content
    else {
      Issue.record("mine was dropped")
      return
    }
    #expect(dropped.value == "mine")
    #expect(kept.value == nil)
  }

  @Test func conflictNamesOnlyChangedFields() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.mergeByPropertyStoreTrump)
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(report.conflicts.first?.fields.map(\.field) == ["name", "note"])
    #expect(report.conflicts.first?.contested.isEmpty == true)
  }

  /// The save restores the record with the values of the context.
  @Test func overwriteOfDeletedRecordReportsUnseenEdits() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try scene.other.save { transaction in
      let item = transaction[Item.self, "1"]
      item.name = "theirs"
      item.tags.insert("unseen")
      item.qty.increment(by: 5)
    }
    try scene.other.save { $0[Item.self, "1"].delete() }
    scene.mine.merge(scene.other)
    let report = try context.save()
    #expect(scene.item?.tags == ["a", "b"] && scene.item?.qty == 10)
    let dropped = Set(report.dropped.compactMap { $0.field?.name })
    #expect(dropped == ["name", "tags", "qty"])
  }

  @Test func overwriteOfDeletedRecordDoesNotReportSeenValues() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try scene.otherEdits { $0.delete() }
    #expect(try context.save().dropped == [])
  }

  /// The other deletion removed the content, so this one drops nothing.
  @Test(arguments: ["overwrite", "objectTrump", "last"])
  func deletionOfDeletedRecordDropsNothing(_ policy: String) throws {
    let policies: [String: MergePolicy] = [
      "overwrite": .overwrite, "objectTrump": .mergeByPropertyObjectTrump,
      "last": .lastWriteWins,
    ]
    let scene = try Scene.withItem()
    let context = EditingContext(
      scene.mine, mergePolicy: try #require(policies[policy]))
    context.fetch(Item.self, key: "1").delete()
    try scene.other.save { $0[Item.self, "1"].qty.increment(by: 5) }
    try scene.otherEdits { $0.delete() }
    #expect(try context.save().dropped == [])
    #expect(scene.item == nil)
  }

  /// The increment restores the record with its name, so the unset is dropped.
  @Test func unsetOfRevivedRecordIsReported() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(
      scene.mine, mergePolicy: .mergeByPropertyStoreTrump)
    let item = context.fetch(Item.self, key: "1")
    item.name = nil
    item.qty.increment()
    try scene.otherEdits { $0.delete() }
    let report = try context.save()
    #expect(scene.item?.name != nil)
    #expect(report.dropped.map { $0.field?.name } == ["name"])
  }
}
