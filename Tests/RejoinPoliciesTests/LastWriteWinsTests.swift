// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// `lastWriteWins` compares the store's write with that of the save.
@Suite struct LastWriteWinsTests {
  private static let day: Int64 = 86_400_000

  private func contest(
    _ scene: Scene, _ key: FieldKey = Key.name
  ) throws -> ContextReport {
    let context = EditingContext(scene.mine, mergePolicy: .lastWriteWins)
    context.set("mine", for: key, in: Scene.item)
    try scene.otherEdits(key, .write("theirs"))
    return try context.save()
  }

  @Test(arguments: [Key.name, Key.note])
  func laterSaveWins(_ key: FieldKey) throws {
    let scene = try Scene.withItem(otherClock: 9000)
    let report = try contest(scene, key)
    #expect(scene.stored(key).value == "mine")
    #expect(scene.stored(key).writes.count == 1, "the other write is dropped")
    guard case .value(let dropped, let kept)? = report.dropped.first?.content
    else {
      Issue.record("the other write is not reported")
      return
    }
    #expect(dropped.value == "theirs" && dropped.device == DeviceID(2))
    #expect(kept.value == "mine")
    #expect(report.dropped.first?.rule == "lastWriteWins")
  }

  @Test(arguments: [Key.name, Key.note])
  func writeOfFastClockWins(_ key: FieldKey) throws {
    let scene = try Scene.withItem(otherClock: Self.day)
    let report = try contest(scene, key)
    #expect(scene.stored(key).value == "theirs")
    #expect(report.dot == nil && report.dropped.count == 1)
    guard case .value(let dropped, let kept)? = report.dropped.first?.content
    else { return }
    #expect(dropped.value == "mine" && dropped.device == DeviceID(1))
    #expect(kept.value == "theirs")
    #expect(kept.time?.milliseconds == Self.day)
  }

  @Test func uncontestedEditIsWritten() throws {
    let scene = try Scene.withItem(otherClock: Self.day)
    let context = EditingContext(scene.mine, mergePolicy: .lastWriteWins)
    context.set("mine", for: Key.name, in: Scene.item)
    context.set("mine", for: Key.note, in: Scene.item)
    try scene.otherEdits(Key.name, .write("theirs"))
    #expect(try context.save().names == ["note"])
    #expect(scene.item?.note == "mine")
  }

  @Test func lastWriteWinsSupersedesUnseenSiblingAndReportsIt() throws {
    let scene = try Scene.withItem(otherClock: 9000)
    let context = scene.context(.lastWriteWins)
    let third = Scene.replica(3, at: 1)
    try third.save { $0[Item.self, "1"].name = "loser" }
    scene.mine.merge(third)
    try scene.otherEdits(Key.name, .write("theirs"))
    let report = try context.save()
    #expect(scene.item?.name == "mine" && scene.nameConflicts == [])
    let dropped = report.dropped.compactMap { change -> Value? in
      guard case .value(let side, _) = change.content else { return nil }
      return side.value
    }
    #expect(Set(dropped) == ["loser", "theirs"])
  }

  @Test func lastWriteWinsKeepsUnseenSiblingOfUncontestedField()
    throws
  {
    let scene = try Scene.withItem()
    let context = scene.context(.lastWriteWins)
    let third = Scene.replica(3, at: 1)
    try third.save { $0[Item.self, "1"].name = "loser" }
    scene.mine.merge(third)
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(scene.item?.name == "mine" && scene.nameConflicts == ["loser"])
    #expect(report.dropped.isEmpty)
  }

  @Test func deviceDecidesEqualTimes() {
    for (store, device) in [(true, "later"), (false, "earlier")] {
      let field = FieldDifference(
        field: "f", base: "x", mine: "m", store: "s", storeIsLater: store)
      #expect(
        MergePolicy.lastWriteWins.decide([field]).outcomes["f"]
          == (store ? .keepStore : .write("m")), "the \(device) device")
    }
  }

  @Test(arguments: [9000, day])
  func deletionIsComparedWithLastEdit(_ clock: Int64) throws {
    let scene = try Scene.withItem(otherClock: clock)
    let context = EditingContext(scene.mine, mergePolicy: .lastWriteWins)
    context.delete(Scene.item)
    try scene.otherEdits(Key.note, .write("theirs"))
    let report = try context.save()
    let isLater = clock == Self.day
    #expect(scene.mine.exists(Scene.item) == isLater)
    #expect(report.deletedRecords.isEmpty == isLater)
    #expect(
      report.dropped.contains { $0.content == .deletion } == isLater)
  }

  /// An increment has no time, so the deletion is the later one.
  @Test func deletionReportsConcurrentIncrement() throws {
    let scene = try Scene.withItem(otherClock: Self.day)
    let context = EditingContext(scene.mine, mergePolicy: .lastWriteWins)
    context.delete(Scene.item)
    try scene.otherEdits(Key.qty, .count(by: 1))
    let report = try context.save()
    #expect(!scene.mine.exists(Scene.item))
    #expect(report.dropped.map(\.field) == [Key.qty])
  }

  @Test(arguments: [9000, day])
  func editIsComparedWithDeletion(_ clock: Int64) throws {
    let scene = try Scene.withItem(otherClock: clock)
    let context = scene.context(.lastWriteWins)
    try scene.otherDeletes()
    let report = try context.save()
    let isLater = clock == Self.day
    #expect(scene.mine.exists(Scene.item) == !isLater)
    #expect(report.dropped.isEmpty == !isLater)
  }
}
