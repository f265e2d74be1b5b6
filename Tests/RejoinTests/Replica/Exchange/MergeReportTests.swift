// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

@Suite(.encodes) struct MergeReportTests {
  private let clocks = (ManualClock(1000), ManualClock(2000))
  private let a: Replica
  private let b: Replica

  init() {
    a = Replica.empty(1, wallClock: clocks.0)
    b = Replica.empty(2, wallClock: clocks.1)
  }

  private func place(_ key: FieldKey) -> FieldLocation {
    .init(record: Sailor.ada, field: key)
  }

  @Test func reportListsRecordsAndFieldsWithNewValues() throws {
    try a.edit {
      $0.name = "Ada"
      $0.miles.increment(by: 0)
      $0.tags.insert("x")
      $0.roles.remove("x")
      $0.pay.append(3)
    }
    let report = a.tell(b)
    #expect(report.changedRecords == [Sailor.ada])
    #expect(
      report.changedFields == [
        place(Sailor().name.key), place(Sailor().tags.key),
        place(Sailor().pay.key),
      ])
    #expect(report.conflicts.isEmpty)
    #expect(!report.hasFaults)
  }

  @Test func reportOmitsFieldWithEqualValue() throws {
    try a.edit { $0.name = "Ada" }
    a.tell(b)
    try a.edit { $0.name = "Ada" }
    let report = a.tell(b)
    #expect(report.changedRecords == [Sailor.ada])
    #expect(report.changedFields.isEmpty)
  }

  @Test func reportListsBothWritesOfConflict() throws {
    let first = try #require(try a.edit { $0.name = "a" }.dot)
    let second = try #require(try b.edit { $0.name = "b" }.dot)
    let (delta, other) = (a.delta(), b.delta())
    let atB = b.apply(try #require(delta)).conflicts(Sailor().name.key)
    let atA = a.apply(try #require(other)).conflicts(Sailor().name.key)
    for met in [atA, atB] {
      #expect(met.count == 1)
      #expect(met.first?.winner.dot == second)
      #expect(met.first?.winner.value == .string("b"))
      #expect(met.first?.winner.time == Timestamp(milliseconds: 2000))
      #expect(met.first?.loser.dot == first)
      #expect(met.first?.loser.value == .string("a"))
      #expect(met.first?.loser.time == Timestamp(milliseconds: 1000))
      #expect(met.first?.reason == .time)
    }
    #expect(atB.first?.localWon == true)
    #expect(atA.first?.localWon == false)
  }

  @Test func reportOmitsFieldWhenLocalWriteWins() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    #expect(!a.tell(b).changedFields.contains(place(Sailor().name.key)))
  }

  @Test func deviceDecidesConflictOfEqualTimes() throws {
    clocks.1.now = 1000
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    let met = b.tell(a).conflicts(Sailor().name.key)
    #expect(met.map(\.reason) == [.device])
    #expect(met.first?.winner.dot.device == b.device)
    #expect(met.first?.localWon == false)
    #expect(a.ada?.name == "b")
  }

  @Test func seenWriteDoesNotConflict() throws {
    try a.edit { ($0.name, $0.rank) = ("a", "a") }
    a.tell(b)
    try b.edit { ($0.name, $0.rank) = ("b", "b") }
    #expect(b.tell(a).conflicts.isEmpty)
    #expect(a.tell(b).conflicts.isEmpty)
  }

  @Test func mergeReportsConflictOnce() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    let delta = try #require(a.delta())
    #expect(!b.apply(delta).conflicts.isEmpty)
    #expect(b.apply(delta).conflicts.isEmpty)
  }

  @Test func concurrentIncrementsDoNotConflict() throws {
    for i in 0..<100 {
      for replica in [a, b] {
        try replica.save { $0[Sailor.self, "\(i)"].miles.increment() }
      }
    }
    #expect(a.tell(b).conflicts.isEmpty)
    #expect(b.tell(a).conflicts.isEmpty)
    #expect(a[Sailor.self, "7"]?.miles == 2)
  }

  @Test func equalValuesDoNotConflict() throws {
    for replica in [a, b] {
      try replica.edit { ($0.name, $0.rank) = ("same", "same") }
    }
    #expect(a.tell(b).conflicts.isEmpty)
    #expect(b.tell(a).conflicts.isEmpty)
    #expect(a.ada?.writes(of: \.name).count == 2)
  }

  @Test func reportListsDeletionConcurrentWithUpdate() throws {
    try a.edit { $0.name = "a" }
    a.tell(b)
    try a.edit { $0.delete() }
    try b.edit { $0.name = "b" }
    let report = a.tell(b)
    #expect(report.conflicts.isEmpty)
    #expect(
      report.deletionConflicts == [
        .init(
          record: Sailor.ada,
          deletions: [
            .init(
              dot: Dot(a.device, 2), time: Timestamp(milliseconds: 1000).next!)
          ],
          edits: [Dot(b.device, 1)], rule: .updateWins, exists: true)
      ])
    #expect(report.deletedRecords.isEmpty)
    #expect(b.ada?.name == "b")
  }

  @Test func reportListsCreationsAndDeletions() throws {
    try a.edit { $0.name = "a" }
    try a.save { $0[Berth.self, "b"].name = "b" }
    let berth = RecordID("Berth", "b")
    let first = a.tell(b)
    #expect(first.createdRecords == [Sailor.ada, berth])
    #expect(first.deletedRecords.isEmpty)
    try a.edit { $0.name = "again" }
    #expect(a.tell(b).createdRecords.isEmpty)
    try a.edit { $0.delete() }
    let second = a.tell(b)
    #expect(second.deletedRecords == [Sailor.ada])
    #expect(second.createdRecords.isEmpty)
    #expect(second.changedFields.isEmpty)
    try b.save { $0.undelete(Sailor.ada) }
    #expect(b.tell(a).createdRecords == [Sailor.ada])
    #expect(b.tell(a).createdRecords.isEmpty)
  }

  @Test func deletionRuleDecidesDeletedRecords() throws {
    let berth = RecordID("Berth", "b")
    try a.save { $0[Berth.self, "b"].name = "b" }
    a.tell(b)
    try a.save { $0.delete(berth) }
    try b.save { $0[Berth.self, "b"].name = "edited" }
    #expect(a.tell(b).deletedRecords == [berth])
    #expect(b.tell(a).createdRecords.isEmpty)
  }

  @Test func reportListsOldAndNewValuesOnRequest() throws {
    try a.edit {
      $0.name = "old"
      $0.miles.increment(by: 2)
      $0.tags.insert("x")
      $0.pay.append(1)
    }
    a.tell(b)
    try a.edit {
      $0.name = "new"
      $0.miles.increment(by: 3)
      $0.tags.insert("y")
      $0.pay.append(1)
      $0.roles.remove("unseen")
    }
    let delta = try #require(a.delta(since: b.version))
    let other = b.fork(as: DeviceID(8))
    let report = b.apply(delta, reporting: .changesWithValues)
    var changes: [FieldKey: MergeReport.FieldChange] = [:]
    for change in report.fieldChanges {
      changes[change.location.field] = change
    }
    #expect(Set(report.fieldChanges.map(\.location)) == report.changedFields)
    #expect(changes.count == 4)
    let (name, miles) = (changes[Sailor().name.key], Sailor().miles.key)
    #expect((name?.old.value, name?.new.value) == ("old", "new"))
    #expect(changes[miles]?.old.count == 2)
    #expect(changes[miles]?.new.count == 5)
    #expect(changes[Sailor().tags.key]?.old.elements == ["x"])
    #expect(changes[Sailor().tags.key]?.new.elements == ["x", "y"])
    #expect(changes[Sailor().pay.key]?.old.total == 1)
    #expect(changes[Sailor().pay.key]?.new.total == 2)
    let full = other.apply(delta)
    #expect(full.fieldChanges.isEmpty)
    #expect(full.changedFields == report.changedFields)
  }

  @Test func reportingFaultsOmitsChanges() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    let state = a.fork(as: DeviceID(3))
    b.tell(state)
    let report = a.apply(try #require(b.delta()), reporting: .faults)
    #expect(report.changedRecords.isEmpty)
    #expect(report.changedFields.isEmpty)
    #expect(report.fieldChanges.isEmpty)
    #expect(report.createdRecords.isEmpty)
    #expect(report.conflicts.isEmpty)
    #expect(a.delta() == state.delta())
  }

  @Test func reportingFaultsListsGaps() throws {
    try a.edit { $0.name = "one" }
    let early = a.version
    try a.edit { $0.name = "two" }
    let delta = try #require(a.delta(since: early))
    let report = b.apply(delta, reporting: .faults)
    #expect(
      report.gaps == [
        .init(device: a.device, lastHeldSave: 0, lastAssumedSave: 1)
      ])
    #expect(report.hasFaults)
  }
}

extension MergeReport {
  fileprivate func conflicts(_ key: FieldKey) -> [MergeReport.WriteConflict] {
    conflicts.filter { $0.location.field == key }
  }
}
