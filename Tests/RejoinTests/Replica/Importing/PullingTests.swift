// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// Rows of a server that does not use CRDTs.
///
/// Times are milliseconds. The clocks of the devices show 1,000,000.
@Suite(.encodes) struct PullingTests {
  private let a = PullingTests.device(1)
  private let b = PullingTests.device(2)

  /// Returns a replica with ID `number * 10`, and the next IDs for its pulls.
  private static func device(_ number: UInt64) -> Replica {
    var last = number * 10
    return Replica.empty(number * 10) {
      last += 1
      return DeviceID(last)
    }
  }

  /// Pulls a row of a sailor.
  @discardableResult
  private func pull(
    _ replica: Replica, at time: Int64, from server: String = "crm",
    name: String? = nil, rank: String? = nil
  ) throws -> MergeReport {
    try replica.importRows(from: server, modifiedAt: time) { transaction in
      if let name { transaction[Sailor.self, "ada"].name = name }
      if let rank { transaction[Sailor.self, "ada"].rank = rank }
    }
  }

  private func write(_ replica: Replica) throws -> RegisterWrite {
    try #require(replica.ada?.record.write(of: FieldKey("name", .register)))
  }

  // Claim 21: a blind overwrite from a server's rows loses pending local edits.

  @Test func newerRowKeepsPendingEditAsConflict() throws {
    try pull(a, at: 1_000, name: "Ada", rank: "mate")
    try a.edit { $0.name = "Countess" }
    let report = try pull(a, at: 2_000_000, name: "Lady", rank: "mate")
    #expect(a.ada?.name == "Lady")
    #expect(a.ada?.conflictingValues(of: \.name) == ["Countess"])
    let conflict = try #require(report.conflicts.first)
    #expect(report.conflicts.count == 1)
    #expect(conflict.loser.value == "Countess")
    #expect(conflict.loser.dot.device == a.device)
  }

  @Test func rowBeforeEditBecomesConflict() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.edit { $0.name = "Countess" }
    try pull(a, at: 2_000, name: "Lady")
    #expect(a.ada?.name == "Countess")
    #expect(a.ada?.conflictingValues(of: \.name) == ["Lady"])
  }

  @Test func resolvingConflictSupersedesRowAndEdit() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.edit { $0.name = "Countess" }
    try pull(a, at: 2_000_000, name: "Lady")
    try a.edit { $0.name = "Ada of Lovelace" }
    #expect(a.ada?.name == "Ada of Lovelace")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
    // The server returns the pushed value.
    try pull(a, at: 3_000_000, name: "Ada of Lovelace")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func pullKeepsFieldsThatRowsOmit() throws {
    try a.edit {
      $0.miles.increment(by: 2)
      $0.name = "Ada"
    }
    try pull(a, at: 2_000_000, rank: "mate")
    #expect(a.ada?.miles == 2)
    #expect(a.ada?.name == "Ada")
    #expect(a.ada?.rank == "mate")
  }

  @Test func pulledQuietRegisterShowsLaterWriteAndListsNoConflict() throws {
    try pull(a, at: 1_000, rank: "mate")
    try a.edit { $0.rank = "cook" }
    try pull(a, at: 2_000, rank: "master")
    #expect(a.ada?.rank == "cook")
    try pull(a, at: 2_000_000, rank: "captain")
    #expect(a.ada?.rank == "captain")
    #expect(a.ada?.conflictingValues(of: \.rank) == [])
  }

  // A pull writes only values that differ from the latest known pull of any
  // device, and only if the server's time is later.

  @Test func pullOfKnownRowSavesNothing() throws {
    try pull(a, at: 1_000, name: "Ada", rank: "mate")
    try a.edit { $0.name = "Countess" }
    let before = a.version
    for time in [0, 999, 1_000, 1_001, 9_000_000] as [Int64] {
      let report = try pull(a, at: time, name: "Ada", rank: "mate")
      #expect(report.changedRecords.isEmpty)
    }
    #expect(a.version == before)
    #expect(a.ada?.name == "Countess")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test(arguments: [-1, 0, 999, 1_000] as [Int64])
  func pullIgnoresRowsAtSameOrEarlierTime(time: Int64) throws {
    try pull(a, at: 1_000, name: "Ada")
    let before = a.version
    try pull(a, at: time, name: "Lady")
    #expect(a.version == before)
    #expect(a.ada?.name == "Ada")
  }

  @Test func pullWritesNewFieldAtEarlierTime() throws {
    try pull(a, at: 1_000, name: "Ada")
    try pull(a, at: 500, rank: "mate")
    #expect(a.ada?.rank == "mate")
  }

  @Test func pullWritesAllRowsInOneSave() throws {
    let report = try a.importRows(from: "crm", modifiedAt: 1_000) {
      transaction in
      transaction[Sailor.self, "ada"].name = "Ada"
      transaction[Sailor.self, "eve"].name = "Eve"
    }
    #expect(report.createdRecords.isSuperset(of: a.allRecordIDs))
    #expect(a.allRecordIDs.count == 2)
    #expect(a.version.vectorClock.entries.map(\.count) == [1])
    try a.importRows(from: "crm", modifiedAt: 2_000) { transaction in
      transaction[Sailor.self, "ada"].name = "Ada"
      transaction[Sailor.self, "eve"].name = "Eva"
    }
    #expect(try write(a).dot.sequence == 1)
    #expect(a.version.vectorClock.entries.map(\.count) == [2])
  }

  @Test func pullCreatesRowWithoutFieldsOnce() throws {
    for time in 1...3 as ClosedRange<Int64> {
      try a.importRows(from: "crm", modifiedAt: time) {
        $0.ensureExists(Sailor.ada)
      }
    }
    #expect(a.ada != nil)
    #expect(a.version.vectorClock.entries.map(\.count) == [1])
  }

  @Test func pullUnsetsPulledField() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.importRows(from: "crm", modifiedAt: 2_000) {
      $0[Sailor.self, "ada"].name = nil
    }
    #expect(a.ada?.name == nil)
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func pullComparesWithPullOfAnotherDevice() throws {
    try pull(a, at: 1_000, name: "Ada")
    a.tell(b)
    let before = b.version
    try pull(b, at: 2_000, name: "Ada")
    try pull(b, at: 999, name: "Eve")
    #expect(b.version == before)
    try pull(b, at: 2_000, name: "Lady")
    #expect(b.ada?.name == "Lady")
    #expect(b.ada?.conflictingValues(of: \.name) == [])
  }

  /// The name of an entity can contain a slash.
  @Test func pullDistinguishesIDsWithEqualConcatenation() throws {
    let name = FieldKey("name", .register)
    let entities = ["a/b", "a"].map { (SchemaName($0), Schema.Definition()) }
    let replica = Replica(
      device: DeviceID(10),
      schema: Schema(Dictionary(uniqueKeysWithValues: entities)),
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(11) })
    let (first, second) = (RecordID("a/b", "c"), RecordID("a", "b/c"))
    for (id, value) in [(first, "1"), (second, "2")] as [(RecordID, Value)] {
      try replica.importRows(from: "crm", modifiedAt: 1_000) {
        $0.apply(.write(value), to: name, of: id)
      }
    }
    #expect(replica.record(first)?.shown(name) == ["1"])
    #expect(replica.record(second)?.shown(name) == ["2"])
  }

  // A pull observes only earlier pulls from its server.

  @Test func pullSupersedesPullOfAnotherInstallation() throws {
    try pull(a, at: 1_000, name: "Ada")
    try pull(b, at: 2_000, name: "Lady")
    let conflicts = a.merge(b).conflicts
    #expect(conflicts.map(\.location.record) == [Sailor.ada])
    #expect(a.ada?.conflictingValues(of: \.name) == ["Ada"])
    b.merge(a)
    try pull(b, at: 3_000, name: "Countess")
    settle(a, b)
    #expect(a.ada?.name == "Countess")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func pullDoesNotSupersedePullOfAnotherServer() throws {
    try pull(a, at: 1_000, from: "crm", name: "Ada")
    try pull(a, at: 2_000, from: "erp", name: "Lady")
    #expect(a.ada?.name == "Lady")
    #expect(a.ada?.conflictingValues(of: \.name) == ["Ada"])
    try pull(a, at: 3_000, from: "crm", name: "Countess")
    #expect(a.ada?.name == "Countess")
    #expect(a.ada?.conflictingValues(of: \.name) == ["Lady"])
  }

  @Test func pullOfUnchangedRowKeepsDeletion() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.save { $0.delete(Sailor.ada) }
    try pull(a, at: 2_000, name: "Ada")
    #expect(a.ada == nil)
    // The server changed the row without knowing of the deletion.
    try pull(a, at: 3_000, name: "Lady")
    #expect(a.ada?.name == "Lady")
  }

  @Test func pullsOfSameRowsDoNotConflict() throws {
    for round in 1...4 as ClosedRange<Int64> {
      for replica in [a, b] {
        try pull(replica, at: round * 1_000, name: "\(round)", rank: "\(round)")
      }
      for (one, other) in [(a, b), (b, a)] {
        #expect(one.tell(other).conflicts.isEmpty)
      }
    }
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.ada?.name == "4")
    #expect(a.ada?.rank == "4")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  // Each installation has a device for each server.

  @Test func pullSavesUnderServerDeviceAtServerTime() throws {
    try pull(a, at: 1_000, name: "Ada")
    let first = try write(a)
    #expect(first.dot == Dot(DeviceID(11), 1))
    #expect(first.time == Timestamp(milliseconds: 1_000))
    try pull(a, at: 2_000, name: "Lady")
    #expect(try write(a).dot == Dot(DeviceID(11), 2))
    try pull(a, at: 3_000, from: "erp", name: "Eve")
    #expect(try write(a).dot.device != DeviceID(11))
    #expect(a.version[a.device].sequence == 0)
  }

  @Test func pullDoesNotChangeDevice() throws {
    for time in 1...3 as ClosedRange<Int64> {
      let report = try pull(a, at: time, name: "\(time)")
      #expect(!report.hasFaults)
      let changed = report.changedFields.filter { $0.record == Sailor.ada }
      #expect(changed.map(\.field.name) == ["name"])
      #expect(try a.edit { $0.miles.increment() }.dot?.device == DeviceID(10))
    }
    #expect(a.deviceChange == nil)
    #expect(a.version.forkedDevices.isEmpty)
    #expect(!b.merge(a).hasFaults)
    #expect(!a.merge(b).hasFaults)
  }

  @Test func cutDoesNotAwaitPullDevice() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.edit { $0.miles.increment() }
    a.tell(b)
    for replica in [a, b] { #expect(replica.roster == [DeviceID(10)]) }
    a.recordVersion(b.version, of: b.device)
    #expect(a.stabilityCut == a.version.vectorClock)
  }

  @Test func replicaStateStoresPullDevice() throws {
    try pull(a, at: 1_000, name: "Ada")
    let bytes = a.state.encoded()
    let opened = Replica.opening(
      try ReplicaState(decoding: bytes), token: a.restoreToken, as: 7)
    try pull(opened, at: 2_000, name: "Lady")
    #expect(try write(opened).dot == Dot(DeviceID(11), 2))
  }

  @Test func forkPullsUnderItsOwnDevice() throws {
    try pull(a, at: 1_000, name: "Ada")
    let fork = a.fork(as: DeviceID(50), makeDeviceID: { DeviceID(51) })
    try pull(a, at: 2_000, name: "Lady")
    try pull(fork, at: 3_000, name: "Countess")
    #expect(try write(fork).dot == Dot(DeviceID(51), 1))
    #expect(!fork.merge(a).hasFaults)
    #expect(!a.merge(fork).hasFaults)
    #expect(a.ada?.name == "Countess")
  }

  /// The bound for messages also applies to the rows of a server.
  @Test func serverAheadMovesClockToBound() throws {
    try pull(a, at: 4_000_000_000_000, name: "Ada")
    try a.edit { $0.name = "Lady" }
    #expect(a.ada?.name == "Lady")
    try a.save { $0[Sailor.self, "eve"].name = "Eve" }
    let time = a[Sailor.self, "eve"]?.record.write(
      of: FieldKey("name", .register))?.time
    let bound: Int64 = 1_000_000 + 5 * 60_000
    #expect(try #require(time) < Timestamp(milliseconds: bound + 1))
  }

  // Restored backups and clones.

  @Test func restoredBackupForgetsPullDevices() throws {
    try pull(a, at: 1_000, name: "Ada")
    let restored = Replica.opening(a.state, token: nil, as: 7)
    try pull(a, at: 2_000, name: "Lady")
    let other = Replica.opening(a.state, token: nil, as: 8)
    #expect(restored.device == DeviceID(7))
    #expect(restored.state.identity.pullDevices.isEmpty)
    #expect(other.state.identity.pullDevices.isEmpty)
  }

  /// Opens a backup of `a`, with its token, from before a pull that `b` has.
  private func unnoticed() throws -> Replica {
    try a.edit { $0.miles.increment() }
    try pull(a, at: 1_000, name: "Ada")
    let (state, token) = (a.state, a.restoreToken)
    try pull(a, at: 2_000, name: "Lady")
    a.tell(b)
    var last: UInt64 = 70
    return Replica(
      opening: state, token: token, schema: a.schema,
      wallClock: ManualClock().wallClock
    ) {
      last += 1
      return DeviceID(last)
    }
  }

  @Test func unknownPullRevealsClone() throws {
    let clone = try unnoticed()
    let report = clone.merge(b)
    #expect(report.lastSaveBeforeRollback == Dot(clone.device, 1))
    #expect(report.forkedDevices == [DeviceID(10), DeviceID(11)])
    try pull(clone, at: 3_000, name: "Countess")
    let dot = try write(clone).dot
    #expect(![DeviceID(10), DeviceID(11)].contains(dot.device))
    #expect(clone.deviceChange?.old == DeviceID(10))
    settle(a, b, clone)
    #expect(areEqual(a, b, clone))
    #expect(a.ada?.name == "Countess")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  /// A part of a split delta has fields and no intervals.
  @Test func fieldWithoutIntervalsRevealsClone() throws {
    let clone = try unnoticed()
    let part = try #require(b.delta()?.split(into: 1).first)
    #expect(part.intervals.isEmpty)
    #expect(clone.apply(part).lastSaveBeforeRollback == Dot(clone.device, 1))
    let dot = try clone.edit { $0.name = "Countess" }.dot
    #expect(dot?.device != DeviceID(10))
  }

  @Test func mergeDetectsClonePullingUnderSameNumber() throws {
    let clone = try unnoticed()
    try pull(clone, at: 3_000, name: "Countess")
    let report = b.merge(clone)
    #expect(report.equivocations == [Dot(DeviceID(11), 2)])
    #expect(report.forkedDevices == [DeviceID(11)])
    clone.merge(b)
    a.merge(b)
    for (replica, time) in [(a, 4_000), (clone, 5_000)] as [(Replica, Int64)] {
      try pull(replica, at: time, name: "\(time)")
      #expect(try write(replica).dot.device != DeviceID(11))
    }
    settle(a, b, clone)
    #expect(b.ada?.name == "5000")
    #expect(areEqual(a, b, clone))
  }

  /// One value with two server times is two saves.
  @Test func mergeDetectsClonePullingSameRowAtOtherTime() throws {
    let clone = try unnoticed()
    try pull(clone, at: 3_000, name: "Lady")
    let report = b.merge(clone)
    #expect(report.forkedDevices == [DeviceID(11)])
    clone.merge(b)
    settle(a, b, clone)
    #expect(areEqual(a, b, clone))
    #expect(a.delta() == b.delta())
  }

  @Test func pullWithoutUnusedIDThrowsIdentityInUse() throws {
    let poor = Replica.empty(3) { DeviceID(3) }
    #expect(throws: SaveError.identityInUse(DeviceID(3))) {
      try pull(poor, at: 1_000, name: "Ada")
    }
    #expect(poor.delta() == nil)
  }

  // A record that was deleted and created again since the latest pull.

  @Test func pullFillsRecordCreatedAgain() throws {
    try pull(a, at: 1_000, name: "Ada", rank: "mate")
    try a.edit { $0.delete() }
    #expect(
      try pull(a, at: 1_000, name: "Ada", rank: "mate").changedRecords.isEmpty)
    #expect(a.ada == nil)
    try a.edit { $0.ensureExists() }
    #expect(a.ada?.name == nil)
    try pull(a, at: 1_000, name: "Ada", rank: "mate")
    #expect(a.ada?.name == "Ada" && a.ada?.rank == "mate")
    #expect(a.ada?.conflictingValues(of: \.name) == [])
    #expect(
      try pull(a, at: 1_000, name: "Ada", rank: "mate").changedRecords.isEmpty)
  }

  /// The first re-creation dropped the memory of the pull.
  @Test func secondRecreationDoesNotTouchMemory() throws {
    try pull(a, at: 1_000, name: "Ada")
    var ids: [Set<String>] = []
    for _ in 0..<2 {
      try a.edit { $0.delete() }
      let version = a.version
      try a.edit { $0.ensureExists() }
      let delta = try #require(a.delta(since: version))
      ids.append(Set(delta.recordIDs.map(\.entity)))
    }
    #expect(ids == [["Sailor", BuiltIn.pulled], ["Sailor"]])
  }

  @Test func pullAfterCreatingAgainConflictsWithEdit() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.edit { $0.delete() }
    try a.edit { $0.name = "Countess" }
    try pull(a, at: 1_000, name: "Ada")
    #expect(a.ada?.name == "Countess")
    #expect(a.ada?.conflictingValues(of: \.name) == ["Ada"])
  }

  @Test func pullFillsRecordThatAnotherDeviceCreatedAgain() throws {
    try pull(a, at: 1_000, name: "Ada")
    try pull(b, at: 1_000, from: "erp", name: "Ada")
    settle(a, b)
    try a.edit { $0.delete() }
    try a.edit { $0.ensureExists() }
    #expect(
      try pull(b, at: 1_000, from: "erp", name: "Ada").changedRecords.isEmpty)
    a.tell(b)
    try pull(b, at: 1_000, from: "erp", name: "Ada")
    #expect(b.ada?.name == "Ada")
    try pull(b, at: 1_000, name: "Ada")
    #expect(try pull(b, at: 1_000, name: "Ada").changedRecords.isEmpty)
  }

  @Test func pullKeepsRowThatReCreationHadNotSeen() throws {
    try pull(a, at: 1_000, name: "Ada")
    settle(a, b)
    try pull(b, at: 2_000, name: "Lady")
    try a.edit { $0.delete() }
    try a.edit { $0.ensureExists() }
    settle(a, b)
    #expect(a.ada?.name == "Lady")
    #expect(try pull(a, at: 2_000, name: "Lady").changedRecords.isEmpty)
  }

  @Test func undoOfRecreationRestoresPulledValues() throws {
    try pull(a, at: 1_000, name: "Ada")
    try a.edit { $0.delete() }
    let report = try a.save { transaction in
      transaction.isUndoable = true
      transaction[Sailor.self, "ada"].ensureExists()
    }
    try a.undo(try #require(report.undo))
    try a.save { $0.undelete(Sailor.ada) }
    #expect(a.ada?.name == "Ada")
    #expect(try pull(a, at: 1_000, name: "Ada").changedRecords.isEmpty)
  }

  // Purges.

  private func purged() throws {
    try pull(a, at: 1_000, name: "Ada", rank: "mate")
    try a.edit { $0.miles.increment(by: 3) }
    try a.edit { $0.delete() }
    #expect(try a.purgeDeletedRecords().announcedRecords == [Sailor.ada])
  }

  @Test func changedRowWritesAllFieldsAfterPurge() throws {
    try purged()
    #expect(try a.purgeDeletedRecords().droppedRecords == [Sailor.ada])
    try pull(a, at: 1_000, name: "Ada", rank: "mate")
    #expect(a.ada == nil)
    try pull(a, at: 2_000, name: "Lady", rank: "mate")
    #expect(a.ada?.name == "Lady")
    #expect(a.ada?.rank == "mate")
    // Local edits do not return.
    #expect(a.ada?.miles == 0)
    // Another installation pulls the same row.
    a.tell(b)
    try pull(b, at: 2_000, name: "Lady", rank: "mate")
    #expect(b.ada?.rank == "mate")
    #expect(b.ada?.conflictingValues(of: \.rank) == [])
  }

  /// Another device can drop the record at the same time.
  @Test func changedRowWritesAllFieldsAfterAnnouncement() throws {
    try purged()
    a.tell(b)
    try b.purgeDeletedRecords()
    try pull(b, at: 2_000, name: "Lady", rank: "mate")
    #expect(try a.purgeDeletedRecords().droppedRecords == [Sailor.ada])
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.ada?.name == "Lady")
    #expect(a.ada?.rank == "mate")
  }

  /// The value of a field in an older row is not the latest one.
  @Test func olderRowWritesLatestPulledValuesAfterPurge() throws {
    try pull(a, at: 1_000, name: "Ada")
    try pull(a, at: 3_000, rank: "captain")
    try a.edit { $0.delete() }
    try a.purgeDeletedRecords()
    try pull(a, at: 2_000, name: "Lady", rank: "mate")
    #expect(a.ada?.name == "Lady")
    #expect(a.ada?.rank == "captain")
  }
}
