// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinPolicies
import Testing

/// Deletions in conflict that the `manual` policy queues, and stored queues.
@Suite struct QueuedDeletionTests {
  /// Returns a context whose deletion was queued because of a concurrent
  /// increment.
  private func queued(_ scene: Scene) throws -> EditingContext {
    let context = EditingContext(scene.mine, mergePolicy: .manual)
    context.delete(Scene.item)
    try scene.otherEdits(Key.qty, .count(by: 1))
    let report = try context.save()
    #expect(report.dot == nil && report.dropped.isEmpty)
    #expect(report.deletedRecords.isEmpty)
    return context
  }

  /// Returns the conflicts after another launch.
  private func reopened(_ context: EditingContext) throws -> [EditConflict] {
    let bytes = try JSONEncoder().encode(context.pendingConflicts)
    return try JSONDecoder().decode([EditConflict].self, from: bytes)
  }

  @Test func deletionIsQueuedAndRecordStays() throws {
    let scene = try Scene.withItem()
    let context = try queued(scene)
    #expect(scene.mine.exists(Scene.item))
    #expect(context.pendingConflicts.count == 1)
    #expect(context.pendingConflicts.first?.isDeletion == true)
    #expect(context.pendingConflicts.first?.contestedNames == ["qty"])
  }

  @Test func resolveDeletionDeletesRecord() throws {
    let scene = try Scene.withItem()
    let context = try queued(scene)
    let report = try context.resolveDeletion(of: Scene.item, deletes: true)
    #expect(!scene.mine.exists(Scene.item))
    #expect(
      report.deletedRecords == [Scene.item] && report.survivingRecords.isEmpty)
    #expect(context.pendingConflicts.isEmpty)
  }

  @Test func declinedDeletionSavesNothing() throws {
    let scene = try Scene.withItem()
    let context = try queued(scene)
    let report = try context.resolveDeletion(of: Scene.item, deletes: false)
    #expect(report.dot == nil && report.deletedRecords.isEmpty)
    #expect(scene.item?.qty == 11 && context.pendingConflicts.isEmpty)
  }

  @Test func resolveDeletionIgnoresQueuedChange() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .manual)
    context.apply(.write("mine"), to: Key.name, in: Scene.item)
    try scene.otherEdits(Key.name, .write("theirs"))
    try context.save()
    let report = try context.resolveDeletion(of: Scene.item, deletes: true)
    #expect(report.dot == nil && scene.mine.exists(Scene.item))
    #expect(context.pendingConflicts.map(\.contestedNames) == [["name"]])
  }

  @Test func resolveDeletionIgnoresRecordWithoutQueue() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    let report = try context.resolveDeletion(of: Scene.item, deletes: true)
    #expect(report.dot == nil && scene.mine.exists(Scene.item))
  }

  @Test func laterEditKeepsRecord() throws {
    let scene = try Scene.withItem()
    let context = try queued(scene)
    try scene.otherEdits(Key.note, .write("later"))
    let report = try context.resolveDeletion(of: Scene.item, deletes: true)
    #expect(scene.item?.note == "later")
    #expect(
      report.survivingRecords[Scene.item]?.map(\.device) == [DeviceID(2)])
  }

  @Test func recreationIsQueuedWithDeletion() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .manual)
    context.delete(Scene.item)
    context.set("again", for: Key.name, in: Scene.item)
    context.apply(.count(by: 2), to: Key.qty, in: Scene.item)
    try scene.otherEdits(Key.name, .write("theirs"))
    let report = try context.save()
    #expect(report.dropped.map(\.content) == [.edit(.count(by: 2))])
    let name = context.pendingConflicts.first?.contested.first
    #expect(name?.mine == "again" && name?.store == "theirs")
    #expect(scene.item?.name == "theirs" && scene.item?.qty == 10)
  }

  @Test func resolvingEveryFieldKeepsRecord() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .manual)
    context.delete(Scene.item)
    try scene.otherEdits(Key.name, .write("theirs"))
    try context.save()
    let fields = context.pendingConflicts.first?.fields.map(\.field)
    #expect(fields == ["name", "note"])
    try context.resolve(Scene.item, [Key.name: "settled"])
    #expect(context.pendingConflicts.count == 1)
    try context.resolve(Scene.item, [Key.note: "n"])
    #expect(context.pendingConflicts.isEmpty)
    #expect(scene.item?.name == "settled")
  }

  @Test func queueIsStoredAndResolvedAfterRelaunch() throws {
    let scene = try Scene.withItem()
    let context = try queued(scene)
    let later = EditingContext(scene.mine)
    later.pendingConflicts = try reopened(context)
    #expect(later.pendingConflicts == context.pendingConflicts)
    try scene.otherEdits(Key.tags, .inserting("later"))
    let report = try later.resolveDeletion(of: Scene.item, deletes: true)
    #expect(scene.mine.exists(Scene.item), "the tag was not displayed")
    #expect(report.survivingRecords.count == 1)
  }

  @Test func storedConflictSupersedesOnlyDisplayedValues() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.manual)
    try scene.otherEdits(Key.name, .write("theirs"))
    try context.save()
    let later = EditingContext(scene.mine)
    later.pendingConflicts = try reopened(context)
    let third = Scene.replica(3, at: 5000)
    try third.save { $0.apply(.write("later"), to: Key.name, of: Scene.item) }
    scene.mine.merge(third)
    try later.resolve(Scene.item, [Key.name: "settled"])
    #expect(scene.item?.name == "settled")
    #expect(scene.nameConflicts == ["later"])
    #expect(later.pendingConflicts.isEmpty)
  }

  @Test func storedConflictDoesNotDisplayLaterDeletion() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.manual)
    try scene.otherEdits(Key.name, .write("theirs"))
    try context.save()
    let later = EditingContext(scene.mine)
    later.pendingConflicts = try reopened(context)
    try scene.otherDeletes()
    try later.resolve(Scene.item, [Key.name: "settled"])
    #expect(scene.item?.note == "n", "concurrent, not a creation")
    let marks = scene.mine.recordForEditing(Scene.item)[.existence].marks
    #expect(marks.map(\.kind) == [.deletion])
  }

  @Test func equalQueuesHaveEqualBytes() throws {
    let scene = try Scene.withItem()
    let context = try queued(scene)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(
      try encoder.encode(context.pendingConflicts)
        == encoder.encode(reopened(context)))
  }
}
