// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Contexts and drafts of records that a later save deleted and purged.
@Suite struct PurgedRecordTests {
  /// Policies that write nothing if the store deleted the record.
  private static let yielding: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .rollback, .serverWins, .manual,
  ]
  /// Policies that write what the context changed.
  private static let writing: [MergePolicy] = [
    .mergeByPropertyObjectTrump, .overwrite, .mergeNonNil, .merge,
    .custom { .write($0.mine) },
  ]

  /// - Parameter drops: Whether the purge also drops the contents.
  private func purge(_ scene: Scene, drops: Bool) throws {
    try scene.mine.save { $0.delete(Scene.item) }
    #expect(
      try scene.mine.purgeDeletedRecords().announcedRecords == [Scene.item])
    guard drops else { return }
    #expect(try scene.mine.purgeDeletedRecords().droppedRecords == [Scene.item])
  }

  @Test(arguments: writing, [false, true])
  func editsStayInContext(_ policy: MergePolicy, _ drops: Bool) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    context.fetch(Item.self, key: "2").name = "other"
    try purge(scene, drops: drops)
    let report = try context.save()
    #expect(report.failedRecords == [Scene.item: .purged(Scene.item)])
    #expect(report.dropped.isEmpty)
    #expect(scene.item == nil)
    #expect(context.fetch(Item.self, key: "1").name == "mine")
    // The other record is saved.
    #expect(scene.mine[Item.self, "2"]?.name == "other")
    // After a save created the record again, the context can save.
    try scene.mine.save { $0[Item.self, "1"].note = "new" }
    try context.save()
    #expect(scene.item?.name == "mine")
    let writesAll = ["overwrite", "custom"].contains(policy.name)
    #expect(scene.item?.note == "new" || writesAll)
    #expect(scene.item?.qty == 0 || writesAll)
  }

  @Test(arguments: yielding, [false, true])
  func policyWithoutWritesIsNotRefused(
    _ policy: MergePolicy, _ drops: Bool
  ) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try purge(scene, drops: drops)
    let report = try context.save()
    #expect(report.failedRecords.isEmpty)
    #expect(report.dot == nil)
    #expect(scene.item == nil)
  }

  @Test func errorReportsConflict() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try purge(scene, drops: true)
    let error = #expect(throws: ContextSaveError.self) { try context.save() }
    guard case .conflict? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.hasChanges)
  }

  @Test(arguments: [false, true])
  func lastWriteWinsDoesNotWritePurgedRecord(_ drops: Bool) throws {
    let scene = try Scene.withItem()
    let context = scene.context(.lastWriteWins)
    try purge(scene, drops: drops)
    let report = try context.save()
    #expect(scene.item == nil)
    #expect(
      report.failedRecords == [Scene.item: .purged(Scene.item)]
        || !report.dropped.isEmpty && report.dot == nil)
  }

  /// Counters, sets and ledgers never conflict.
  @Test(arguments: writing)
  func incrementStaysInContext(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.fetch(Item.self, key: "1").qty.increment()
    try purge(scene, drops: true)
    #expect(
      try context.save().failedRecords == [Scene.item: .purged(Scene.item)])
    #expect(context.hasChanges)
  }

  @Test func draftIsNotCommitted() throws {
    let scene = try Scene.withItem()
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.name = "mine"
    try purge(scene, drops: true)
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    let report = try context.commit(&draft)
    #expect(report.failedRecords == [Scene.item: .purged(Scene.item)])
    #expect(!draft.isCommitted && draft.name == "mine")
    #expect(scene.item == nil)
  }

  /// A draft from before the purge did not show that the fields are empty.
  @Test func draftRecreatesPurgedRecord() throws {
    let scene = try Scene.withItem()
    try purge(scene, drops: false)
    var early = scene.mine.draft(of: Item.self, key: "1")
    early.name = "early"
    #expect(try scene.mine.purgeDeletedRecords().droppedRecords.count == 1)
    var draft = scene.mine.draft(of: Item.self, key: "1")
    draft.name = "new"
    #expect(
      try EditingContext(scene.mine).commit(&early).failedRecords
        == [Scene.item: .purged(Scene.item)])
    let report = try EditingContext(scene.mine).commit(&draft)
    #expect(report.failedRecords.isEmpty)
    #expect(scene.item?.name == "new")
    #expect(scene.item?.note == nil)
  }

  @Test func deletionOfPurgedRecordSucceeds() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    context.fetch(Item.self, key: "1").delete()
    try purge(scene, drops: true)
    #expect(try context.save().failedRecords.isEmpty)
    #expect(scene.item == nil)
  }

  @Test func resolvingPurgedRecordThrows() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.manual)
    try scene.mine.save { $0.delete(Scene.item) }
    try context.save()
    for _ in 0..<2 { try scene.mine.purgeDeletedRecords() }
    #expect(!context.pendingConflicts.isEmpty)
    #expect(throws: SaveError.purged(Scene.item)) {
      try context.resolve(Scene.item, [Key.name: .string("mine")])
    }
    #expect(!context.pendingConflicts.isEmpty)
    #expect(scene.item == nil)
  }
}
