// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct PurgeTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  private func fill(_ replica: Replica) throws {
    try replica.edit {
      ($0.name, $0.rank) = ("ada", "mate")
      $0.miles.increment(by: 3)
      $0.tags.insert("x")
      $0.roles.insert("y")
      $0.pay.append(4)
    }
  }

  private func contents(_ replica: Replica) -> [FieldKey] {
    let record = replica.recordForEditing(Sailor.ada)
    return record.fields.filter { record[$0].hasContent }
  }

  private func deleteEverywhere() throws {
    try fill(a)
    try b.save { $0[Berth.self, "b"].name = "b" }
    settle(a, b)
    try a.save { $0[Sailor.self, "ada"].delete() }
  }

  @Test func nothingIsPurgedAboveTheCut() throws {
    try deleteEverywhere()
    let version = a.version
    #expect(try a.purgeDeletedRecords().dot == nil)
    #expect(a.version == version)
    #expect(contents(a).count == 6)
  }

  @Test func belowTheCutContentGoesAndTheRecordStaysDead() throws {
    try deleteEverywhere()
    settle(a, b)
    let purge = try #require(try a.purgeDeletedRecords().dot)
    #expect(purge == Dot(a.device, 3))
    let marks = a.recordForEditing(Sailor.ada)[.existence].marks
    #expect(marks.map(\.dot) == [purge])
    #expect(marks.map(\.isPurge) == [true])
    #expect(marks[0].covered == [a.device: 3])
    #expect(contents(a).isEmpty)
    #expect(!a.exists(Sailor.ada))
    #expect(a.recordForEditing(Sailor.ada).isDead)
    a.tell(b)
    #expect(contents(b).isEmpty)
    #expect(areEqual(a, b))
  }

  @Test func aSecondPurgeTakesNoDot() throws {
    try deleteEverywhere()
    settle(a, b)
    try a.purgeDeletedRecords()
    let version = a.version
    #expect(try a.purgeDeletedRecords().dot == nil)
    settle(a, b)
    #expect(try a.purgeDeletedRecords().dot == nil)
    #expect(try b.purgeDeletedRecords().dot == nil)
    #expect(a.version.vectorClock == version.vectorClock)
  }

  @Test func aliveRecordsAreLeftAlone() throws {
    try fill(a)
    #expect(try a.purgeDeletedRecords().dot == nil)
    #expect(a.stabilityCut == a.version.vectorClock)
    #expect(contents(a).count == 6)
  }

  @Test func aConcurrentEditSurvivesAndBringsTheRecordBack() throws {
    try fill(a)
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
    a.recordVersion(b.version, of: b.device)
    #expect(try a.purgeDeletedRecords().dot != nil)
    settle(a, b, c)
    #expect(areEqual(a, b, c))
    #expect(a.ada?.name == "from c")
    #expect(a.ada?.rank == nil)
    #expect(a.ada?.miles == 10)
    #expect(a.ada?.tags == ["z"])
    #expect(a.ada?.roles == [])
    #expect(a.ada?.pay == 40)
  }

  @Test func twoPurgesAtOnceAreOne() throws {
    try deleteEverywhere()
    settle(a, b)
    try a.purgeDeletedRecords()
    try b.purgeDeletedRecords()
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(contents(a).isEmpty)
    #expect(!a.exists(Sailor.ada))
  }

  @Test func anEnrolledDeviceHoldsUpTheCut() throws {
    try a.enroll(DeviceID(5), name: "spare")
    try fill(a)
    try a.save { $0[Sailor.self, "ada"].delete() }
    #expect(a.roster == [a.device, DeviceID(5)])
    #expect(a.stabilityCut.isEmpty)
    #expect(try a.purgeDeletedRecords().dot == nil)
    a.recordVersion(a.version, of: DeviceID(5))
    #expect(try a.purgeDeletedRecords().dot != nil)
  }

  @Test func oneStableDeletionOfTwoIsNotEnough() throws {
    try deleteEverywhere()
    try b.edit { $0.delete() }
    b.tell(a)
    #expect(a.recordForEditing(Sailor.ada)[.existence].marks.count == 2)
    a.stored.version.stabilityCut = [a.device: 1, b.device: 2]
    #expect(try a.purgeDeletedRecords().dot == nil)
  }
}
