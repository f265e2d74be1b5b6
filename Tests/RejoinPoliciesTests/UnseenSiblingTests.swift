// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// The save of a context does not supersede a sibling that the context did not
/// show.
@Suite struct UnseenSiblingTests {
  /// Receives a concurrent write of a third device after the fetch.
  private func thirdWrites(
    _ name: String, to scene: Scene, at time: Int64
  ) throws {
    let third = Scene.replica(3, at: time)
    try third.save { $0[Item.self, "1"].name = name }
    scene.mine.merge(third)
  }

  @Test(arguments: MergePolicy.named)
  func losingSiblingStays(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try thirdWrites("loser", to: scene, at: 1)
    #expect(try context.save().names == ["name"])
    #expect(scene.item?.name == "mine")
    #expect(scene.nameConflicts == ["loser"])
  }

  @Test func shownSiblingIsSuperseded() throws {
    let scene = try Scene.withItem()
    try thirdWrites("loser", to: scene, at: 1)
    try scene.context(.error).save()
    #expect(scene.nameConflicts == [])
  }

  @Test(arguments: [MergePolicy.merge, .mergeNonNil])
  func bothSiblingsStay(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 9_000_000)
    let context = scene.context(policy)
    try thirdWrites("loser", to: scene, at: 1)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(report.dropped.isEmpty)
    #expect(scene.item?.name == "mine")
    #expect(scene.nameConflicts == ["loser", "theirs"])
  }

  @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .manual])
  func siblingOfUncontestedFieldStays(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try thirdWrites("loser", to: scene, at: 1)
    try scene.otherEdits { $0.note = "theirs" }
    #expect(try context.save().names == ["name"])
    #expect(scene.nameConflicts == ["loser"])
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
  func trumpSupersedesAllAndReportsEach(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 9000)
    let context = scene.context(policy)
    try thirdWrites("loser", to: scene, at: 1)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(scene.item?.name == "mine")
    #expect(scene.nameConflicts == [])
    let dropped = report.dropped.compactMap { change -> DroppedChange.Side? in
      guard case .value(let side, let kept) = change.content else { return nil }
      #expect(kept.value == "mine" && kept.time == nil)
      #expect(kept.device == DeviceID(1))
      return side
    }
    #expect(Set(dropped.map(\.value)) == ["loser", "theirs"])
    #expect(Set(dropped.map(\.device)) == [DeviceID(2), DeviceID(3)])
    #expect(Set(dropped.map { $0.time?.milliseconds }) == [1, 9000])
  }

  @Test func trumpReportsUnseenSiblingOfUncontestedField() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.mergeByPropertyObjectTrump)
    try thirdWrites("loser", to: scene, at: 1)
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(scene.nameConflicts == [])
    #expect(report.dropped.count == 1)
    #expect(report.dropped.first?.field == Item().name.key)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeNonNil,
    .lastWriteWins,
  ])
  func contextDeletionReportsUnseenWrite(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.fetch(Item.self, key: "1").delete()
    context.fetch(Item.self, key: "1").note = "again"
    try thirdWrites("loser", to: scene, at: 1)
    #expect(scene.item?.name == "base", "the unseen write is not shown")
    let report = try context.save()
    #expect(scene.item?.name == nil && scene.nameConflicts == [])
    let dropped = report.dropped.filter { $0.field == Key.name }
    guard case .overwritten(let state)? = dropped.first?.content else {
      Issue.record("the superseded write is not in the report")
      return
    }
    #expect(state.writes.map(\.value) == ["base", "loser"])
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
  func contextDeletionReportsCancelingUnseenChanges(
    _ policy: MergePolicy
  ) throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.fetch(Item.self, key: "1").delete()
    context.fetch(Item.self, key: "1").note = "again"
    try scene.otherEdits(Key.qty, .count(by: 3))
    try scene.otherEdits(Key.qty, .count(by: -3))
    let report = try context.save()
    #expect(report.dropped.contains { $0.field == Key.qty })
    #expect(!report.dropped.contains { $0.field == Key.tags })
  }

  @Test func recreationReportsUnseenWriteOfDeletedRecord() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(
      scene.mine, mergePolicy: .mergeByPropertyObjectTrump)
    context.fetch(Item.self, key: "1").delete()
    context.fetch(Item.self, key: "1").note = "again"
    try scene.otherEdits(Key.name, .write("theirs"))
    try scene.otherDeletes()
    let report = try context.save()
    #expect(report.dropped.map(\.field) == [Key.name])
  }

  @Test func writeIsShownDespiteFastClockOfUnseenSibling() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    try thirdWrites("future", to: scene, at: 1 << 45)
    try context.save()
    #expect(scene.item?.name == "mine")
    #expect(scene.nameConflicts == ["future"])
    #expect(scene.mine.version[DeviceID(1)].time.milliseconds < 400_000)
  }

  /// No later time exists, so the resolution supersedes even an unseen write.
  @Test func resolutionReportsWriteAtMaximumTime() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.manual)
    try scene.otherEdits { $0.name = "theirs" }
    try context.save()
    // The counter of the timestamp reaches its maximum as well.
    let third = Scene.replica(3, at: .max)
    for _ in 0...UInt16.max {
      try third.save { $0[Item.self, "1"].name = "last" }
    }
    scene.mine.merge(third)
    let name = FieldKey("name", .register)
    let report = try context.resolve(Scene.item, [name: "chosen"])
    #expect(scene.item?.name == "chosen" && scene.nameConflicts == [])
    guard case .value(let dropped, let kept)? = report.dropped.first?.content
    else {
      Issue.record("the superseded write is not reported")
      return
    }
    #expect(dropped.value == "last" && kept.value == "chosen")
  }
}
