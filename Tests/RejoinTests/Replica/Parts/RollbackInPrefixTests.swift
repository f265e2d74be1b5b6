// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

@testable import Rejoin

/// Restored backups that meet their later saves in a prefix or in a field ahead
/// of a version.
@Suite(.encodes) struct RollbackInPrefixTests {
  private let phone = Replica.empty(1)
  private let tablet = Replica.empty(2)

  private func restored(_ state: ReplicaState) -> Replica {
    Replica.opening(state, token: RestoreToken(state), as: 7)
  }

  private func part(_ one: Replica, to other: Replica) throws -> Delta {
    try #require(one.delta(since: other.version, byteLimit: 1))
  }

  private func transfer(_ one: Replica, to other: Replica) {
    for _ in 0..<50 {
      guard let part = one.delta(since: other.version, byteLimit: 1),
        other.apply(part).hasAdvanced
      else { return }
    }
    Issue.record("the transfer does not end")
  }

  /// Returns the phone before its third save.
  ///
  /// The tablet has a part of three later saves.
  private func backup() throws -> Replica {
    for key in ["m", "n"] { try phone.write(key, value: "1") }
    let state = phone.state
    try phone.write("m", value: "2")
    try phone.write("n", value: "2")
    try phone.write("m", value: "3")
    tablet.apply(try part(phone, to: tablet))
    #expect(tablet.version[phone.device].sequence == 0)
    #expect(tablet.version.prefixes[0].vectorClock == [phone.device: 5])
    return restored(state)
  }

  @Test func shownPrefixRevealsRollback() throws {
    let old = try backup()
    let report = old.recordVersion(tablet.version, of: tablet.device)
    #expect(report.lastSaveBeforeRollback == Dot(phone.device, 2))
    #expect(report.forkedDevices.isEmpty)
    #expect(old.version.forkedDevices.isEmpty)
    try old.write("a", value: "old")
    #expect(old.device == DeviceID(7))
  }

  @Test func shownFieldAheadRevealsRollback() throws {
    try phone.write("m", value: "1")
    let state = phone.state
    try phone.write("m", "n", value: "2")
    let watch = Replica.empty(3)
    watch.apply(try part(phone, to: watch))
    try watch.write("x", value: "x")
    watch.tell(tablet)
    #expect(tablet.version[phone.device].sequence == 0)
    #expect(tablet.version.prefixes.isEmpty)
    #expect(!tablet.version.fieldsAhead.isEmpty)
    let old = restored(state)
    let report = old.recordVersion(tablet.version)
    #expect(report.lastSaveBeforeRollback == Dot(phone.device, 1))
    // The phone itself made these saves.
    #expect(!phone.recordVersion(tablet.version).hasFaults)
  }

  /// A pull saves under its own device.
  @Test func shownPrefixOfPullDeviceRevealsRollback() throws {
    func pull(_ value: String) throws {
      try phone.importRows(from: "S", modifiedAt: Int64(value.utf8.count)) {
        for key in ["m", "n"] { $0[Sailor.self, key].name = value }
      }
    }
    try pull("1")
    let state = phone.state
    try pull("two")
    tablet.apply(try part(phone, to: tablet))
    let old = restored(state)
    let server = try #require(old.state.identity.pullDevices.values.first)
    #expect(tablet.version.prefixes[0].vectorClock[server] == 2)
    #expect(
      old.recordVersion(tablet.version).lastSaveBeforeRollback?.device
        == phone.device)
  }

  @Test func senderDoesNotContinuePrefixBeyondItsOwnSaves() throws {
    let old = try backup()
    // "a" and "b" are before the end of the prefix.
    try old.write("a", value: "old")
    try old.write("b", "n", value: "old")
    #expect(try part(old, to: tablet).range?.after == nil)
    transfer(old, to: tablet)
    // The tablet had no complete save of the phone, so it needs all of them.
    #expect(tablet.version[phone.device].sequence == 4)
    for key in ["a", "b", "n"] {
      #expect(tablet[Sailor.self, key]?.name == "old")
    }
  }

  /// The saves of the restored phone arrive completely, although the tablet has
  /// a prefix of later ones.
  @Test func partOfFewerOwnSavesReplacesPrefixOfLaterOnes() throws {
    let old = try backup()
    for key in ["a", "b"] { try old.write(key, value: "old") }
    #expect(
      old.recordVersion(tablet.version).lastSaveBeforeRollback
        == Dot(phone.device, 4))
    tablet.apply(try part(old, to: tablet))
    #expect(tablet.version.prefixes[0].vectorClock == [phone.device: 4])
    // The field of the former prefix is ahead again.
    #expect(tablet.version.fieldsAhead.count == 1)
    transfer(old, to: tablet)
    #expect(tablet.version[phone.device].sequence == 4)
    for key in ["a", "b"] {
      #expect(tablet[Sailor.self, key]?.name == "old")
    }
    #expect(tablet[Sailor.self, "m"]?.name == "3")
  }
}
