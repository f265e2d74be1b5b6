// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct PurgeTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  private func contents(_ replica: Replica) -> [FieldKey] {
    let record = replica.recordForEditing(Sailor.ada)
    return record.fields.filter { record[$0].hasContent }
  }

  private func marks(_ replica: Replica) -> [RecordMark] {
    replica.recordForEditing(Sailor.ada)[.existence].marks
  }

  private func deleteEverywhere() throws {
    try a.fill()
    try b.save { $0[Berth.self, "b"].name = "b" }
    settle(a, b)
    try a.save { $0[Sailor.self, "ada"].delete() }
  }

  /// Announces the purge on `a`, and syncs.
  private func announceEverywhere() throws {
    try deleteEverywhere()
    settle(a, b)
    #expect(try a.purgeDeletedRecords().announcedRecords == [Sailor.ada])
    settle(a, b)
  }

  @Test func purgeIgnoresDeletionsAboveCut() throws {
    try deleteEverywhere()
    let version = a.version
    #expect(try a.purgeDeletedRecords().dot == nil)
    #expect(a.version == version)
    #expect(contents(a).count == 6)
  }

  @Test func announcementKeepsContents() throws {
    try deleteEverywhere()
    settle(a, b)
    let report = try a.purgeDeletedRecords()
    #expect(report.dot == Dot(a.device, 3))
    #expect(report.announcedRecords == [Sailor.ada])
    #expect(report.droppedRecords == [])
    #expect(contents(a).count == 6)
    #expect(marks(a).map(\.kind) == [.deletion, .purgeAnnouncement])
    #expect(marks(a)[1].seen == [a.device: 2])
    #expect(!a.exists(Sailor.ada))
    // A second purge does not announce again, and drops only below the cut.
    #expect(try a.purgeDeletedRecords().dot == nil)
  }

  @Test func purgeDropsAnnouncedRecordsBelowCut() throws {
    try announceEverywhere()
    let report = try a.purgeDeletedRecords()
    let drop = try #require(report.dot)
    #expect(report.announcedRecords == [])
    #expect(report.droppedRecords == [Sailor.ada])
    #expect(marks(a).map(\.kind) == [.deletion, .purge])
    #expect(marks(a)[1].dot == drop)
    #expect(marks(a)[1].seen.contains(drop))
    #expect(contents(a).isEmpty)
    #expect(!a.exists(Sailor.ada))
    #expect(a.recordForEditing(Sailor.ada).isDead)
    a.tell(b)
    #expect(contents(b).isEmpty)
    #expect(areEqual(a, b))
  }

  @Test func purgeOfDroppedRecordTakesNoDot() throws {
    try announceEverywhere()
    try a.purgeDeletedRecords()
    let version = a.version
    #expect(try a.purgeDeletedRecords().dot == nil)
    settle(a, b)
    #expect(try a.purgeDeletedRecords().dot == nil)
    #expect(try b.purgeDeletedRecords().dot == nil)
    #expect(a.version.vectorClock == version.vectorClock)
  }

  @Test func purgeAnnouncesAndDropsInOneSave() throws {
    let bob = RecordID("Sailor", "bob")
    try a.fill()
    try a.save { $0[Sailor.self, "bob"].name = "bob" }
    try a.save { $0[Sailor.self, "ada"].delete() }
    #expect(try a.purgeDeletedRecords().announcedRecords == [Sailor.ada])
    try a.save { $0.delete(bob) }
    let report = try a.purgeDeletedRecords()
    #expect(report.announcedRecords == [bob])
    #expect(report.droppedRecords == [Sailor.ada])
    #expect(report.dot == Dot(a.device, 6))
  }

  @Test func purgeIgnoresExistingRecords() throws {
    try a.fill()
    #expect(try a.purgeDeletedRecords().dot == nil)
    #expect(a.stabilityCut == a.version.vectorClock)
    #expect(contents(a).count == 6)
  }

  /// The editing device is not on the roster, so neither purge waits for it.
  @Test func editOfUnknownDeviceRestoresOnlyItsPart() throws {
    try a.fill()
    a.tell(b)
    let c = Replica.empty(3)
    a.tell(c)
    try c.edit {
      $0.name = "from c"
      $0.miles.increment(by: 10)
      $0.tags.insert("z")
      $0.pay.append(40)
    }
    try a.save { $0[Sailor.self, "ada"].delete() }
    a.tell(b)
    for _ in 0..<2 {
      a.recordVersion(b.version, of: b.device)
      #expect(try a.purgeDeletedRecords().dot != nil)
      a.tell(b)
    }
    settle(a, b, c)
    #expect(areEqual(a, b, c))
    #expect(a.ada?.name == "from c")
    #expect(a.ada?.rank == nil)
    #expect(a.ada?.miles == 10)
    #expect(a.ada?.tags == ["z"])
    #expect(a.ada?.roles == [])
    #expect(a.ada?.pay == 40)
  }

  @Test func concurrentPurgesConverge() throws {
    try announceEverywhere()
    try a.purgeDeletedRecords()
    try b.purgeDeletedRecords()
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(contents(a).isEmpty)
    #expect(!a.exists(Sailor.ada))
    #expect(marks(a).map(\.kind) == [.deletion, .purge, .purge])
  }

  @Test func purgeAwaitsEnrolledDevice() throws {
    try a.enroll(DeviceID(5), name: "spare")
    try a.fill()
    try a.save { $0[Sailor.self, "ada"].delete() }
    #expect(a.roster == [a.device, DeviceID(5)])
    #expect(a.stabilityCut.isEmpty)
    let report = try a.purgeDeletedRecords()
    #expect(report.dot == nil)
    #expect(report.awaitedDevices == [DeviceID(5): .zero])
    a.recordVersion(a.version, of: DeviceID(5))
    #expect(try a.purgeDeletedRecords().dot != nil)
  }

  @Test func purgeReportsAwaitedDevices() throws {
    try deleteEverywhere()
    settle(a, b)
    #expect(a.awaitedDevices.isEmpty)
    try a.edit { $0.name = "again" }
    #expect(a.awaitedDevices == [b.device: b.version[b.device].time])
    let report = try a.purgeDeletedRecords()
    #expect(report.awaitedDevices == [b.device: b.version[b.device].time])
    try a.retire(b.device)
    #expect(try a.purgeDeletedRecords().awaitedDevices.isEmpty)
  }

  @Test func purgeAwaitsEveryDeletion() throws {
    try deleteEverywhere()
    try b.edit { $0.delete() }
    b.tell(a)
    #expect(marks(a).count == 2)
    a.current.version.stabilityCut = [a.device: 1, b.device: 2]
    #expect(try a.purgeDeletedRecords().dot == nil)
  }

  /// An announcement names only the deletions that its author had seen.
  @Test func announcementDoesNotCoverLaterDeletion() throws {
    try deleteEverywhere()
    try b.edit { $0.delete() }
    settle(a, b)
    let before = b.state
    try a.purgeDeletedRecords()
    let restored = Replica(
      resuming: before, schema: b.schema, wallClock: b.wallClock,
      makeDeviceID: { DeviceID(9) })
    try restored.save { $0.undelete(Sailor.ada) }
    try restored.edit { $0.delete() }
    restored.tell(a)
    #expect(
      marks(a).map(\.kind) == [.purgeAnnouncement, .deletion])
    try a.save { $0.undelete(Sailor.ada) }
    #expect(a.ada?.name == "ada")
  }
}

/// Edits and restorations that are concurrent with a purge.
@Suite(.encodes) struct ConcurrentPurgeTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let berth = RecordID("Berth", "b")

  private func deleted() throws {
    try a.edit {
      $0.name = "ada"
      $0.miles.increment(by: 3)
      $0.tags.insert("x")
      $0.pay.append(4)
    }
    try a.save { $0[Berth.self, "b"].name = "b" }
    try b.save { $0[Berth.self, "c"].name = "c" }
    settle(a, b)
    try a.save(undoable: "Delete") {
      $0.delete(Sailor.ada)
      $0.delete(berth)
    }
    settle(a, b)
  }

  private func checkContents(
    _ replica: Replica, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(replica.ada?.name == "ada", sourceLocation: sourceLocation)
    #expect(replica.ada?.miles == 3, sourceLocation: sourceLocation)
    #expect(replica.ada?.tags == ["x"], sourceLocation: sourceLocation)
    #expect(replica.ada?.pay == 4, sourceLocation: sourceLocation)
    #expect(
      replica[Berth.self, "b"]?.name == "b", sourceLocation: sourceLocation)
  }

  @Test func undeleteConcurrentWithAnnouncementKeepsContents() throws {
    try deleted()
    #expect(try b.purgeDeletedRecords().announcedRecords.count == 2)
    try a.save {
      $0.undelete(Sailor.ada)
      $0.undelete(berth)
    }
    settle(a, b)
    for replica in [a, b] { checkContents(replica) }
    #expect(try b.purgeDeletedRecords().dot == nil)
    #expect(areEqual(a, b))
  }

  @Test func undoConcurrentWithAnnouncementKeepsContents() throws {
    try deleted()
    try b.purgeDeletedRecords()
    guard case .done = try a.undo() else {
      Issue.record("the undo is prevented")
      return
    }
    settle(a, b)
    for replica in [a, b] { checkContents(replica) }
  }

  @Test func announcementPreventsUndo() throws {
    try deleted()
    try b.purgeDeletedRecords()
    b.tell(a)
    let version = a.version
    guard case .prevented(let fields) = try a.undo() else {
      Issue.record("a purged record is restored")
      return
    }
    #expect(Set(fields.map(\.field)) == [.existence])
    #expect(Set(fields.map(\.record)) == [Sailor.ada, berth])
    #expect(a.version == version)
  }

  @Test func undoOfRecreationRestoresFinalDeletion() throws {
    try deleted()
    try a.purgeDeletedRecords()
    try a.save(undoable: "Again") { $0[Sailor.self, "ada"].name = "new" }
    #expect(a.ada?.name == "new")
    try a.undo()
    #expect(a.ada == nil)
    let marks = a.recordForEditing(Sailor.ada)[.existence].marks
    #expect(marks.map(\.kind) == [.deletion])
    #expect(marks.map(\.isFinal) == [true])
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try a.save { $0.undelete(Sailor.ada) }
    }
    guard case .prevented(let fields) = try a.redo() else {
      Issue.record("a purged record is restored")
      return
    }
    #expect(fields.map(\.field).contains(.existence))
    #expect(a.ada == nil)
  }

  @Test func recreationConcurrentWithDropKeepsOnlyItsEdits() throws {
    try deleted()
    try a.purgeDeletedRecords()
    settle(a, b)
    #expect(try a.purgeDeletedRecords().droppedRecords.count == 2)
    try b.save {
      $0[Sailor.self, "ada"].name = "new"
      $0.ensureExists(berth)
    }
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.ada?.name == "new")
    #expect(a.ada?.miles == 0)
    #expect(a.exists(berth))
    #expect(a[Berth.self, "b"]?.name == nil)
  }

  @Test func editAsShownBeforeDeletionThrowsPurged() throws {
    try a.edit { $0.name = "ada" }
    try b.save { $0[Berth.self, "c"].name = "c" }
    settle(a, b)
    let shown = b.recordForEditing(Sailor.ada)
    let name = Sailor().name.key
    try a.edit { $0.delete() }
    settle(a, b)
    try a.purgeDeletedRecords()
    a.tell(b)
    let version = b.version
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try b.save {
        $0.ensureExists(
          Sailor.ada, observed: shown[.existence], recreatingWith: nil)
        $0.apply(
          .write("late"), to: name, of: Sailor.ada, observed: shown[name])
      }
    }
    #expect(b.version == version)
    // A plain edit creates the record again.
    try b.edit { $0.name = "new" }
    #expect(b.ada?.name == "new")
  }

  @Test func editOfFieldAsShownThrowsPurged() throws {
    try a.edit { $0.name = "ada" }
    let name = Sailor().name.key
    let shown = a.recordForEditing(Sailor.ada)[name]
    try a.edit { $0.name = "other" }
    try a.edit { $0.delete() }
    try a.purgeDeletedRecords()
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try a.save {
        $0.apply(.write("late"), to: name, of: Sailor.ada, observed: shown)
      }
    }
    // An edit that has seen the whole field creates the record again.
    let now = a.recordForEditing(Sailor.ada)[name]
    try a.save {
      $0.apply(.write("new"), to: name, of: Sailor.ada, observed: now)
    }
    #expect(a.ada?.name == "new")
  }

  @Test func editAsShownSucceedsWhileOtherEditKeepsRecord() throws {
    try a.edit { $0.name = "ada" }
    try b.save { $0[Berth.self, "c"].name = "c" }
    settle(a, b)
    let shown = b.recordForEditing(Sailor.ada)
    try a.edit { $0.delete() }
    settle(a, b)
    try a.purgeDeletedRecords()
    settle(a, b)
    try a.edit { $0.rank = "mate" }
    a.tell(b)
    try b.save {
      $0.ensureExists(
        Sailor.ada, observed: shown[.existence], recreatingWith: nil)
      $0.apply(
        .count(CounterEdit(by: 1)), to: Sailor().miles.key, of: Sailor.ada,
        observed: shown[Sailor().miles.key])
    }
    #expect(b.ada?.miles == 1)
    #expect(b.ada?.rank == "mate")
  }

  @Test func ensureExistsThroughObservedDeletionThrowsPurged() throws {
    try a.edit { $0.name = "ada" }
    try a.edit { $0.delete() }
    try a.purgeDeletedRecords()
    let existence = a.recordForEditing(Sailor.ada)[.existence]
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try a.save {
        $0.ensureExists(
          Sailor.ada, observed: existence, recreatingWith: nil)
      }
    }
  }

  @Test func mergeDoesNotReportPurgeMarksAsDeletions() throws {
    try deleted()
    try a.purgeDeletedRecords()
    let announced = b.merge(a)
    #expect(announced.deletedRecords == [] && announced.deletionConflicts == [])
    settle(a, b)
    try a.purgeDeletedRecords()
    let dropped = b.merge(a)
    #expect(dropped.deletedRecords == [] && dropped.deletionConflicts == [])
  }
}
