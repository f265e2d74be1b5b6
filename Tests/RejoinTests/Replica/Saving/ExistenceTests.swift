// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// Records that exist because they were edited.
@Suite(.encodes) struct ExistenceTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let c = Replica.empty(3)
  private let name = FieldKey("name", .register)

  private func marks(
    _ replica: Replica, _ id: RecordID = Sailor.ada
  ) -> [RecordMark] {
    replica.recordForEditing(id)[.existence].marks
  }

  @Test func editWritesNoMark() throws {
    try a.edit { $0.name = "Ada" }
    try a.edit { $0.miles.increment() }
    #expect(a.record(Sailor.ada)?[.existence].clock == VectorClock())
    #expect(a.exists(Sailor.ada))
    #expect(a.delta()?.fieldCount == 2)
  }

  @Test func ensureExistsWithoutEditWritesMark() throws {
    try a.edit { $0.ensureExists() }
    #expect(marks(a).map(\.kind) == [.alive])
    try b.edit {
      $0.ensureExists()
      $0.name = "Ada"
    }
    #expect(marks(b).isEmpty)
  }

  @Test func deletionCoversSavesThatItsAuthorHadSeen() throws {
    try a.edit { $0.name = "Ada" }
    settle(a, b, c)
    try b.edit { $0.rank = "mate" }
    b.tell(a)
    try c.edit { $0.miles.increment() }
    try a.edit { $0.delete() }
    #expect(marks(a).map(\.seen) == [[a.device: 2, b.device: 1]])
    a.tell(b)
    #expect(!b.exists(Sailor.ada))
    c.tell(b)
    #expect(b.ada?.name == "Ada" && b.ada?.rank == "mate")
  }

  @Test func editSupersedesDeletionsThatItsAuthorHadSeen() throws {
    try a.edit { $0.name = "Ada" }
    settle(a, b)
    try a.edit { $0.delete() }
    try b.edit { $0.delete() }
    b.tell(a)
    #expect(marks(a).count == 2)
    try a.edit { $0.rank = "mate" }
    #expect(marks(a).isEmpty)
    #expect(a.ada?.name == nil && a.ada?.rank == "mate")
    settle(a, b)
    #expect(marks(b).isEmpty && b.exists(Sailor.ada))
  }

  /// Listing and counting follow a mark, or a field, that arrives late.
  @Test(arguments: ["Sailor", "Berth"])
  func listingFollowsPartsOfDelta(_ entity: String) throws {
    let id = RecordID(entity, "x")
    try a.save { $0.apply(.write("x"), to: name, of: id) }
    settle(a, b, c)
    try a.save { $0.delete(id) }
    try c.save { $0.apply(.write("late"), to: name, of: id) }
    let deletion = try #require(a.delta(since: b.version)).split(into: 1)[0]
    let edit = try #require(c.delta(since: b.version)).split(into: 1)[0]
    let isBack = entity == "Sailor"
    for parts in [[deletion, edit], [edit, deletion]] {
      let replica = Replica(
        resuming: b.state, schema: b.schema, wallClock: ManualClock().wallClock,
        makeDeviceID: { DeviceID(9) })
      #expect(replica.recordCount(of: entity) == 1)
      for part in parts { replica.apply(part) }
      #expect(replica.recordCount(of: entity) == (isBack ? 1 : 0))
      #expect(replica.recordIDs(of: entity) == (isBack ? [id] : []))
      #expect(replica.record(id)?.isDead == !isBack)
    }
  }

  @Test func deletionsOfDifferentSavesHaveDifferentDigests() throws {
    try a.edit { $0.name = "Ada" }
    settle(a, b)
    try b.edit { $0.rank = "mate" }
    let clone = Replica(
      resuming: a.state, schema: a.schema,
      wallClock: ManualClock(1_000).wallClock,
      makeDeviceID: { DeviceID(9) })
    b.tell(clone)
    try a.edit { $0.delete() }
    try clone.edit { $0.delete() }
    #expect(a.version[a.device].digest != clone.version[a.device].digest)
    #expect(a.merge(clone).equivocations == [Dot(a.device, 2)])
  }

  @Test func deletionAsShownCoversOnlyShownSaves() throws {
    try a.edit { $0.name = "Ada" }
    let shown = a.recordForEditing(Sailor.ada)
    try a.edit { $0.rank = "mate" }
    try a.save {
      $0.delete(
        Sailor.ada, observed: shown[.existence], seen: shown.clock)
    }
    #expect(marks(a).map(\.seen) == [[a.device: 1]])
    #expect(a.ada?.rank == "mate")
  }
}

extension ExistenceTests {
  /// A deletion that covers unknown saves would force a new ID on their device.
  ///
  /// A hub asks whether its sender may write as that device.
  @Test func deletionOfUnknownSavesListsTheirDeviceAsAuthor() throws {
    try a.edit { $0.name = "Ada" }
    a.tell(c)
    func authors(covering covered: VectorClock) throws -> Set<DeviceID> {
      let hub = Replica(
        resuming: c.state, schema: c.schema, wallClock: ManualClock().wallClock,
        makeDeviceID: { DeviceID(9) })
      let mark = FieldState(
        Causal(
          store: ExistenceMarks(
            Siblings(
              ExistenceMark.deletion(covering: covered, at: .zero),
              at: Dot(b.device, 1))
          ),
          context: CausalContext([b.device: 1])))
      let before = hub.state
      hub.markRecordsChanged()
      hub.apply(Delta([.init(id: Sailor.ada, fields: [.existence: mark])]))
      return hub.state.authors(since: before)
    }
    #expect(try authors(covering: [a.device: 1, b.device: 1]) == [b.device])
    #expect(
      try authors(covering: [a.device: 2, b.device: 1])
        == [a.device, b.device])
  }
}

/// Reports of deletions that meet edits.
@Suite(.encodes) struct DeletionConflictTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let c = Replica.empty(3)
  private let name = FieldKey("name", .register)

  private func create(_ entity: String) throws -> RecordID {
    let id = RecordID(entity, "x")
    try a.save { $0.apply(.write("x"), to: name, of: id) }
    settle(a, b, c)
    return id
  }

  private func edit(_ id: RecordID, on replica: Replica) throws {
    try replica.save { $0.apply(.write("y"), to: name, of: id) }
  }

  @Test(arguments: ["Sailor", "Berth"])
  func mergeReportsDeletionsAndEditsOfConflict(_ entity: String) throws {
    let id = try create(entity)
    try a.save { $0.delete(id) }
    try b.save { $0.delete(id) }
    try edit(id, on: c)
    b.tell(a)
    let reports = [c.tell(a), a.tell(c)]
    for report in reports {
      let conflict = try #require(report.deletionConflicts.first)
      #expect(report.deletionConflicts.count == 1)
      #expect(conflict.record == id)
      #expect(
        conflict.deletions.map(\.dot) == [Dot(a.device, 2), Dot(b.device, 1)])
      #expect(conflict.edits == [Dot(c.device, 1)])
      #expect(conflict.exists == (entity == "Sailor"))
      #expect(conflict.rule == (entity == "Sailor" ? .updateWins : .deleteWins))
      #expect(report.conflicts.isEmpty && !report.hasFaults)
    }
    #expect(reports[0].createdRecords == (entity == "Sailor" ? [id] : []))
    #expect(reports[1].deletedRecords == (entity == "Sailor" ? [] : [id]))
  }

  @Test func mergeReportsDeletionConflictOnce() throws {
    let id = try create("Sailor")
    try a.save { $0.delete(id) }
    try edit(id, on: c)
    c.tell(a)
    let known = a.version
    #expect(c.tell(a).deletionConflicts.isEmpty)
    // The third device receives both sides, so its own saves do not conflict.
    #expect(a.tell(b).deletionConflicts.isEmpty)
    #expect(a.version == known)
  }

  @Test func deletionDoesNotConflictWithSeenEdit() throws {
    let id = try create("Sailor")
    try edit(id, on: c)
    c.tell(a)
    try a.save { $0.delete(id) }
    #expect(a.tell(c).deletionConflicts.isEmpty)
    #expect(c.tell(b).deletionConflicts.isEmpty)
  }

  @Test func reportingFaultsOmitsDeletionConflicts() throws {
    let id = try create("Sailor")
    try a.save { $0.delete(id) }
    try edit(id, on: c)
    let report = a.apply(
      try #require(c.delta(since: a.version)), reporting: .faults)
    #expect(report.deletionConflicts.isEmpty && report.createdRecords.isEmpty)
    #expect(a.exists(id))
  }
}
