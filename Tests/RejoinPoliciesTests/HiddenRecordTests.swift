// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Edits of a record that another save deleted, if deletions win.
@Suite struct HiddenRecordTests {
  private struct Guest: Entity {
    let deletions = DeletionRule.deleteWins
    let name = register("name", of: String.self)
    let visits = counter("visits")
  }

  private let id = RecordID("Guest", "1")
  private let name = FieldKey("name", .register)
  private let replica = Replica(
    device: DeviceID(1), schema: [Guest.self], wallClock: WallClock { 1000 },
    makeDeviceID: { DeviceID(99) })

  private func draftOfDeletedGuest() throws -> RecordDraft<Guest> {
    try replica.save { $0[Guest.self, "1"].name = "Ada" }
    var draft = replica.draft(of: Guest.self, key: "1")
    draft.name = "Ada L."
    draft.edit { $0.visits.increment(by: 3) }
    try replica.save { $0[Guest.self, "1"].delete() }
    return draft
  }

  @Test(arguments: ["merge", "objectTrump", "overwrite", "last"])
  func hiddenRecordOfDraftIsReported(_ policy: String) throws {
    let policies: [String: MergePolicy] = [
      "merge": .merge, "objectTrump": .mergeByPropertyObjectTrump,
      "overwrite": .overwrite, "last": .lastWriteWins,
    ]
    var draft = try draftOfDeletedGuest()
    let context = EditingContext(
      replica, mergePolicy: try #require(policies[policy]))
    let report = try context.commit(&draft)
    #expect(report.hiddenRecords == [id])
    #expect(replica[Guest.self, "1"] == nil)
    // The edits return with the record.
    try replica.save { $0.undelete(id) }
    #expect(replica[Guest.self, "1"]?.name == "Ada L.")
    #expect(replica[Guest.self, "1"]?.visits == 3)
  }

  @Test func hiddenRecordOfContextIsReported() throws {
    try replica.save { $0[Guest.self, "1"].name = "Ada" }
    let context = EditingContext(replica, mergePolicy: .merge)
    context.fetch(Guest.self, key: "1").name = "Ada L."
    context.fetch(Guest.self, key: "2").name = "Bo"
    try replica.save { $0[Guest.self, "1"].delete() }
    let report = try context.save()
    #expect(report.hiddenRecords == [id])
  }

  @Test func policyWithoutWritesReportsNoHiddenRecord() throws {
    for policy in [MergePolicy.rollback, .serverWins] {
      var draft = try draftOfDeletedGuest()
      let context = EditingContext(replica, mergePolicy: policy)
      #expect(try context.commit(&draft).hiddenRecords == [])
    }
  }

  @Test func resolutionShowsHiddenRecord() throws {
    var draft = try draftOfDeletedGuest()
    let context = EditingContext(replica, mergePolicy: .manual)
    let report = try context.commit(&draft)
    #expect(report.hiddenRecords == [id])
    #expect(context.pendingConflicts.map(\.record) == [id])
    // The resolution saw the deletion.
    #expect(try context.resolve(id, [name: "Ada L."]).hiddenRecords == [])
    #expect(replica[Guest.self, "1"]?.name == "Ada L.")
  }

  @Test func resolutionWithUnseenDeletionIsReported() throws {
    try replica.save { $0[Guest.self, "1"].name = "Ada" }
    let context = EditingContext(replica, mergePolicy: .manual)
    context.fetch(Guest.self, key: "1").name = "mine"
    try replica.save { $0[Guest.self, "1"].name = "theirs" }
    #expect(try context.save().hiddenRecords == [])
    try replica.save { $0[Guest.self, "1"].delete() }
    #expect(try context.resolve(id, [name: "both"]).hiddenRecords == [id])
  }

  @Test func winningUpdateReportsNoHiddenRecord() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.merge)
    try scene.other.save { $0[Item.self, "1"].delete() }
    scene.mine.merge(scene.other)
    #expect(try context.save().hiddenRecords == [])
    #expect(scene.item?.name == "mine")
  }
}
