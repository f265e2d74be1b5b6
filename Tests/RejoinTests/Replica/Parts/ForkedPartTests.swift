// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

@testable import Rejoin

/// Transfers in parts that meet two histories of one device.
@Suite(.encodes) struct ForkedPartTests {
  private let phone = Replica.empty(1)
  private let watch = Replica.empty(2)
  private let tablet = Replica.empty(3)

  private func name(_ replica: Replica, _ key: String) -> String? {
    replica[Sailor.self, key]?.name
  }

  /// Applies the next part.
  private func part(
    _ one: Replica, to other: Replica
  ) throws -> MergeReport {
    other.apply(
      try #require(one.delta(since: other.version, byteLimit: 1)))
  }

  /// Sends all parts.
  ///
  /// - Returns: Their reports.
  @discardableResult
  private func transfer(_ one: Replica, to other: Replica) -> [MergeReport] {
    var reports: [MergeReport] = []
    while reports.count < 50,
      let part = one.delta(since: other.version, byteLimit: 1)
    {
      reports.append(other.apply(part))
      if !reports[reports.count - 1].hasAdvanced { break }
    }
    return reports
  }

  private func isFlagged(_ replica: Replica) -> Bool {
    replica.version.hasForkedPrefix(of: phone.device)
  }

  /// Returns a clone of the phone, whose second save the tablet has.
  ///
  /// The clone has a part of the phone's later saves through the watch.
  private func clone() throws -> Replica {
    try phone.write("a", value: "1")
    let state = phone.state
    for key in ["m", "n", "z"] { try phone.write(key, value: "phone") }
    for _ in 0..<3 { _ = try part(phone, to: watch) }
    try watch.write("y", value: "watch")
    let clone = Replica.opening(state, token: RestoreToken(state), as: 7)
    try clone.write("q", value: "clone")
    clone.tell(tablet)
    watch.tell(clone)
    return clone
  }

  @Test func partThatShowsForkDoesNotEndTransfer() throws {
    let clone = try clone()
    let first = try part(clone, to: tablet)
    #expect(first.forkedDevices.isEmpty && first.hasAdvanced)
    #expect(tablet.version.forkedDevices.isEmpty && isFlagged(tablet))
    // The version shows the entry as before.
    #expect(tablet.version[phone.device].sequence == 2)
    let rest = transfer(clone, to: tablet)
    let flagged = rest.filter { !$0.forkedDevices.isEmpty }
    #expect(flagged.map(\.forkedDevices) == [[phone.device]])
    #expect(tablet.version.forkedDevices == [phone.device])
    #expect(tablet.version.prefixes.isEmpty)
    // The watch does not know the digest of the phone's save 2.
    #expect(name(tablet, "n") == "phone" && name(tablet, "q") == "clone")
    tablet.tell(clone)
    #expect(areEqual(clone, tablet))
  }

  /// A prefix of a forked device has a part of one history, or of both.
  @Test func flaggedPrefixIsNotSentOn() throws {
    let clone = try copies()
    let laptop = Replica.empty(4)
    for other in [tablet, laptop] { phone.tell(other) }
    for history in [phone, clone] { history.tell(watch) }
    try phone.write("d", value: "phone")
    phone.tell(watch)
    #expect(watch.version.forkedDevices == [phone.device])
    _ = try part(watch, to: tablet)
    #expect(isFlagged(tablet))
    #expect(tablet.version.forkedDevices.isEmpty)
    for report in transfer(tablet, to: laptop) {
      // The receiver would not count an interval after its own save.
      #expect(report.gaps.isEmpty)
    }
    #expect(laptop.version.prefixes.isEmpty)
    #expect(laptop.version[phone.device].sequence == 2)
    // The relay sends all saves of both histories.
    for other in [tablet, laptop] {
      transfer(watch, to: other)
      other.tell(watch)
      #expect(areEqual(watch, other))
    }
  }

  @Test func storedPrefixKeepsItsFlag() throws {
    let clone = try clone()
    _ = try part(clone, to: tablet)
    let stored = try ReplicaState(decoding: tablet.state.encoded())
    #expect(stored.version == tablet.state.version)
    let again = Replica.opening(stored, token: nil, as: 8)
    #expect(isFlagged(again))
    transfer(clone, to: again)
    #expect(again.version.forkedDevices == [phone.device])
    #expect(name(again, "n") == "phone")
  }

  /// Returns a clone of the phone, after both made a second save.
  private func copies() throws -> Replica {
    try phone.write("a", "e", value: "1")
    let state = phone.state
    let clone = Replica.opening(state, token: RestoreToken(state), as: 7)
    try phone.write("b", "f", value: "phone")
    try clone.write("c", "g", value: "clone")
    return clone
  }

  /// A later save of the first history arrives between two parts, so the two
  /// entries no longer contradict each other.
  @Test func laterSaveOfFirstHistoryDoesNotEndTransfer() throws {
    let clone = try copies()
    phone.tell(tablet)
    // The relay does not know the clone's earlier digests.
    clone.tell(watch)
    let before = tablet.version
    _ = try part(watch, to: tablet)
    #expect(isFlagged(tablet))
    try phone.write("d", value: "phone")
    let later = try #require(phone.delta(since: before))
    #expect(later.intervals[phone.device]?.from == 2)
    #expect(tablet.apply(later).gaps.isEmpty)
    #expect(tablet.version[phone.device].sequence == 3)
    #expect(tablet.version.forkedDevices.isEmpty && isFlagged(tablet))
    let next = try #require(
      watch.delta(since: tablet.version, byteLimit: 1))
    #expect(next.intervals[phone.device]?.from == 0)
    #expect(next.range?.after != nil)
    transfer(watch, to: tablet)
    #expect(tablet.version.forkedDevices == [phone.device])
    for key in ["b", "d", "f"] { #expect(name(tablet, key) == "phone") }
    for key in ["c", "g"] { #expect(name(tablet, key) == "clone") }
    tablet.tell(watch)
    #expect(areEqual(tablet, watch))
  }

  /// Another device sends parts of the first history in between.
  @Test func partOfFirstHistoryKeepsFlag() throws {
    let clone = try copies()
    let other = Replica.empty(4)
    phone.tell(tablet)
    try phone.write("d", value: "phone")
    phone.tell(other)
    clone.tell(watch)
    _ = try part(watch, to: tablet)
    let first = try #require(
      other.delta(since: tablet.version, byteLimit: 1))
    #expect(first.range?.after == nil)
    #expect(first.intervals[phone.device]?.from == 0)
    tablet.apply(first)
    #expect(isFlagged(tablet))
    let reports = transfer(other, to: tablet)
    #expect(reports.map(\.forkedDevices).contains([phone.device]))
    transfer(watch, to: tablet)
    #expect(name(tablet, "d") == "phone" && name(tablet, "g") == "clone")
  }

  @Test func wholeDeltaFromFirstSaveReportsForkOfPrefix() throws {
    let clone = try copies()
    phone.tell(tablet)
    clone.tell(watch)
    _ = try part(watch, to: tablet)
    try phone.write("d", value: "phone")
    let other = Replica.empty(4)
    phone.tell(other)
    let whole = try #require(other.delta(since: tablet.version))
    #expect(whole.intervals[phone.device]?.from == 0)
    #expect(tablet.apply(whole).forkedDevices == [phone.device])
    #expect(tablet.version[phone.device].sequence == 3)
    // A flagged prefix has a history from its first save on.
    #expect(isFlagged(tablet))
    transfer(watch, to: tablet)
    #expect(tablet.version.prefixes.isEmpty && name(tablet, "g") == "clone")
  }

  @Test func partWithLaterOwnSaveReportsRollbackAndFork() throws {
    let clone = try copies()
    for key in ["h", "i"] { try phone.write(key, value: "phone") }
    phone.tell(watch)
    let report = try part(watch, to: clone)
    #expect(report.lastSaveBeforeRollback == Dot(phone.device, 2))
    #expect(report.forkedDevices == [phone.device])
    #expect(clone.version.forkedDevices == [phone.device])
  }

  @Test func firstAndLastPartReportEquivocation() throws {
    let clone = try copies()
    phone.tell(tablet)
    clone.tell(watch)
    let reports = transfer(watch, to: tablet).map(\.equivocations)
    let dot = Dot(phone.device, 2)
    #expect(reports.count > 3)
    #expect(reports.first == [dot])
    #expect(reports.filter { $0 == [dot] }.count == 2)
  }

  /// The prefix lacks the saves that the version already contained.
  @Test func prefixDoesNotContinueOtherHistory() throws {
    let clone = try copies()
    try clone.write("d", "h", value: "clone")
    clone.tell(watch)
    phone.tell(tablet)
    // Neither 2 nor 3 has two digests yet, so the part starts after 2.
    let first = try #require(
      watch.delta(since: tablet.version, byteLimit: 1))
    #expect(first.intervals[phone.device]?.from == 2)
    tablet.apply(first)
    try phone.write("i", value: "phone")
    phone.tell(tablet)
    // Now one number has two digests.
    let next = try #require(
      watch.delta(since: tablet.version, byteLimit: 1))
    #expect(next.range?.after == nil)
    transfer(watch, to: tablet)
    for key in ["c", "d", "g", "h"] { #expect(name(tablet, key) == "clone") }
    #expect(tablet.version.forkedDevices == [phone.device])
  }

  /// Two histories meet in a prefix: nothing is in the version.
  @Test(arguments: [false, true])
  func prefixThatContradictsPartShowsFork(hasEarlierSave: Bool) throws {
    if hasEarlierSave {
      try phone.write("a", value: "1")
      phone.tell(tablet)
    }
    let clone = try copies()
    let other = Replica.empty(4)
    phone.tell(watch)
    clone.tell(other)
    _ = try part(watch, to: tablet)
    let last = phone.version[phone.device].sequence
    #expect(tablet.version.prefixes[0].vectorClock == [phone.device: last])
    #expect(
      try part(other, to: tablet).equivocations == [Dot(phone.device, last)])
    transfer(other, to: tablet)
    transfer(watch, to: tablet)
    #expect(tablet.version.forkedDevices == [phone.device])
    for key in ["b", "f"] { #expect(name(tablet, key) == "phone") }
    for key in ["c", "g"] { #expect(name(tablet, key) == "clone") }
    for one in [watch, other] {
      tablet.tell(one)
      #expect(areEqual(tablet, one))
    }
  }

  /// The clone knows the digest of its save with the number of the prefix.
  @Test func ownDigestContradictsPrefix() throws {
    let clone = try copies()
    phone.tell(watch)
    _ = try part(watch, to: tablet)
    try clone.write("d", value: "clone")
    let next = try #require(
      clone.delta(since: tablet.version, byteLimit: 1))
    #expect(next.intervals[phone.device]?.to.sequence == 2)
    #expect(next.range?.after == nil)
    for one in [clone, watch, clone] { transfer(one, to: tablet) }
    #expect(tablet.version.forkedDevices == [phone.device])
    for key in ["b", "f"] { #expect(name(tablet, key) == "phone") }
    for key in ["c", "d", "g"] { #expect(name(tablet, key) == "clone") }
  }
}
