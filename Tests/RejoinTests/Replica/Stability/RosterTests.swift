// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct RosterTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let d = Replica.empty(4)

  /// Every device saves once, and all sync.
  private func meet() throws {
    for replica in [a, b, d] { try replica.edit { $0.miles.increment() } }
    settle(a, b, d)
  }

  /// `d` saves two records, and `a` receives one of them.
  private func tellHalf() throws {
    try d.save { transaction in
      transaction[Sailor.self, "ada"].name = "ada"
      transaction[Sailor.self, "bob"].name = "bob"
    }
    a.apply(try #require(d.delta(since: a.version)).split(into: 2)[0])
  }

  @Test func rosterListsSavingAndEnrolledDevices() throws {
    #expect(a.roster.isEmpty)
    try meet()
    try b.enroll(DeviceID(9), name: "spare")
    b.tell(a)
    #expect(a.roster == [a.device, b.device, d.device, DeviceID(9)])
    let entry = RecordID(BuiltIn.roster, DeviceID(9).hexadecimal)
    #expect(
      a.record(entry)?.value(of: FieldKey("\(BuiltIn.name.name)", .register))
        == "spare")
  }

  /// A part of a message names its device.
  @Test func rosterListsDeviceKnownFromPart() throws {
    try d.edit { ($0.name, $0.rank) = ("d", "r") }
    let parts = try #require(d.delta()).split(into: 2)
    a.apply(parts[0])
    #expect(a.version.vectorClock.isEmpty)
    #expect(a.roster == [d.device])
  }

  @Test func rosterDoesNotListImport() throws {
    try a.importRows { $0[Sailor.self, "eve"].name = "Eve" }
    #expect(a.roster.isEmpty)
    #expect(a.version.vectorClock.entries.count == 1)
  }

  @Test func retireRemovesDeviceFromRoster() throws {
    try meet()
    try a.retire(d.device)
    a.tell(b)
    for replica in [a, b] {
      #expect(replica.roster == [a.device, b.device])
      #expect(replica.retirements == [d.device: 1])
    }
  }

  @Test func retireRemovesEnrolledDeviceWithoutSaves() throws {
    try a.enroll(DeviceID(9))
    #expect(a.roster == [a.device, DeviceID(9)])
    try a.retire(DeviceID(9))
    #expect(a.roster == [a.device])
  }

  @Test func mergeJoinsAndReportsLateSavesOfRetiredDevice() throws {
    try meet()
    try d.edit { $0.miles.increment(by: 10) }
    try a.retire(d.device)
    a.tell(b)
    let report = d.tell(b)
    #expect(report.reactivatedDevices == [d.device])
    #expect(!report.hasFaults)
    #expect(b.ada?.miles == 13)
    #expect(b.roster.contains(d.device))
    #expect(d.tell(b).reactivatedDevices.isEmpty)
    settle(a, b, d)
    #expect(areEqual(a, b, d))
    #expect(a.roster == [a.device, b.device, d.device])
    #expect(a.retirements.isEmpty)
  }

  /// `a` has a part of a later save of the device that it retires.
  @Test func retireIncludesFieldsAheadOfVersion() throws {
    try meet()
    try tellHalf()
    try a.retire(d.device)
    #expect(a.retirements == [d.device: 2])
    #expect(d.tell(a).reactivatedDevices.isEmpty)
    #expect(!a.roster.contains(d.device))
    try d.edit { $0.name = "on" }
    #expect(d.tell(a).reactivatedDevices == [d.device])
  }

  @Test func retirementsKeepLaterSave() throws {
    try meet()
    try d.edit { $0.name = "late" }
    d.tell(b)
    try a.retire(d.device)
    try b.retire(d.device)
    settle(a, b)
    #expect(a.retirements == [d.device: 2])
    #expect(b.retirements == [d.device: 2])
  }

  /// `a` received one field of the device that `b` retires.
  @Test func retirementDoesNotDelaySavesOfOtherDevices() throws {
    try meet()
    try tellHalf()
    try a.save { $0[Sailor.self, "cid"].name = "cid" }
    try b.retire(d.device)
    settle(a, b)
    #expect(b[Sailor.self, "cid"]?.name == "cid")
    #expect(a.delta()?.changes == b.delta()?.changes)
    settle(a, b, d)
    #expect(areEqual(a, b, d))
  }

  @Test func firstSaveUnderNewDeviceRetiresOldDevice() throws {
    try meet()
    let reopened = Replica.opening(d.state, token: nil, as: 7)
    #expect(
      reopened.deviceChange
        == .init(
          old: d.device, new: DeviceID(7), lastStored: 1, lastSent: nil))
    #expect(reopened.retirements.isEmpty)
    try reopened.edit { $0.name = "again" }
    #expect(reopened.retirements == [d.device: 1])
    try reopened.edit { $0.name = "and again" }
    reopened.tell(a)
    #expect(a.roster == [a.device, b.device, DeviceID(7)])
  }

  /// The replica stores the device to retire until it saves.
  @Test func saveAfterReopeningTwiceRetiresOldDevice() throws {
    try meet()
    let once = Replica.opening(d.state, token: nil, as: 7)
    let bytes = once.state.encoded()
    let again = Replica.opening(
      try ReplicaState(decoding: bytes), token: nil, as: 8)
    try again.edit { $0.name = "again" }
    #expect(again.retirements == [d.device: 1])
  }

  @Test func saveDoesNotRetireOldDeviceWithoutSaves() throws {
    let fresh = Replica.opening(Replica.empty(5).state, token: nil, as: 7)
    try fresh.edit { $0.name = "first" }
    #expect(fresh.retirements.isEmpty)
    #expect(fresh.allRecordIDs == [Sailor.ada])
  }

  @Test func rostersDoNotListRetiredOwnDevice() throws {
    try meet()
    try a.retire(a.device)
    #expect(!a.roster.contains(a.device))
    for replica in [b, d] {
      #expect(a.tell(replica).reactivatedDevices.isEmpty)
      #expect(!replica.roster.contains(a.device))
    }
    #expect(a.retirements == [a.device: 2])
    // This replica receives the retirement before the complete save.
    let late = Replica.empty(5)
    for part in try #require(a.delta()).split(into: 3) { late.apply(part) }
    #expect(a.tell(late).reactivatedDevices.isEmpty)
    #expect(!late.roster.contains(a.device))
    try a.edit { $0.miles.increment() }
    #expect(a.tell(b).reactivatedDevices == [a.device])
    #expect(b.roster.contains(a.device))
  }

  @Test func retireOfIDInUseRecordsItsLastSave() throws {
    let clone = Replica.opening(a.state, token: a.restoreToken, as: 7)
    try a.edit { $0.miles.increment() }
    a.tell(clone)
    try clone.retire(a.device)
    #expect(clone.device == DeviceID(7))
    #expect(clone.retirements == [a.device: 1])
  }
}
