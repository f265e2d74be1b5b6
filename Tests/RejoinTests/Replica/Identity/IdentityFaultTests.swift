// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Restored backups and cloned files.
@Suite(.encodes) struct IdentityFaultTests {
  private let a = Replica.empty(1) { DeviceID(11) }
  private let b = Replica.empty(2)

  /// Returns a backup of `a` from before its last save, which `b` has.
  private func backupAndGoOn() throws -> (ReplicaState, RestoreToken) {
    try a.edit { $0.name = "one" }
    try a.edit { $0.miles.increment(by: 2) }
    let (backup, token) = (a.state, a.restoreToken)
    try a.edit { $0.miles.increment(by: 4) }
    a.tell(b)
    return (backup, token)
  }

  @Test func restoredBackupChangesDeviceBeforeFirstSave() throws {
    let (backup, _) = try backupAndGoOn()
    let restored = Replica.opening(backup, token: a.restoreToken, as: 7)
    #expect(restored.device == DeviceID(7))
    let dot = try restored.edit { $0.miles.increment(by: 8) }.dot
    #expect(dot == Dot(DeviceID(7), 1))
    let report = b.tell(restored)
    #expect(!report.hasFaults)
    #expect(restored.ada?.miles == 14)
    settle(a, b, restored)
    #expect(areEqual(a, b, restored))
    #expect(a.ada?.miles == 14)
  }

  @Test func matchingTokenKeepsDevice() throws {
    _ = try backupAndGoOn()
    let opened = Replica.opening(a.state, token: a.restoreToken, as: 7)
    #expect(opened.device == a.device)
    #expect(try opened.edit { $0.name = "on" }.dot == Dot(a.device, 4))
  }

  @Test func missingTokenChangesDevice() throws {
    let opened = Replica.opening(a.state, token: nil, as: 7)
    #expect(opened.device == DeviceID(7))
  }

  @Test func firstMessageRevealsUnnoticedRestore() throws {
    let (backup, token) = try backupAndGoOn()
    let restored = Replica.opening(backup, token: token, as: 7)
    #expect(restored.device == a.device)
    let report = b.tell(restored)
    #expect(report.lastSaveBeforeRollback == Dot(a.device, 2))
    #expect(report.forkedDevices == [a.device])
    // The next message brings the rest of the other history.
    #expect(b.tell(restored).lastSaveBeforeRollback == Dot(a.device, 2))
    #expect(restored.version[a.device].sequence == 3)
    #expect(!b.tell(restored).hasFaults)
    #expect(restored.device == a.device)
    let dot = try restored.edit { $0.miles.increment(by: 8) }.dot
    #expect(dot == Dot(DeviceID(7), 1))
    #expect(restored.device == DeviceID(7))
    #expect(try restored.edit { $0.name = "x" }.dot == Dot(DeviceID(7), 2))
    settle(a, b, restored)
    #expect(areEqual(a, b, restored))
    #expect(b.ada?.miles == 14)
  }

  @Test func fieldWithoutIntervalsRevealsRollback() throws {
    let (backup, token) = try backupAndGoOn()
    let restored = Replica.opening(backup, token: token, as: 7)
    let part = try #require(b.delta()?.split(into: 1).first)
    #expect(restored.apply(part).lastSaveBeforeRollback == Dot(a.device, 2))
    #expect(try restored.edit { $0.name = "x" }.dot?.device == DeviceID(7))
  }

  /// A bare field, whose message lists no save of the device.
  @Test func fieldClockRevealsRollback() throws {
    let (backup, token) = try backupAndGoOn()
    let restored = Replica.opening(backup, token: token, as: 7)
    let emptied = FieldState(
      Causal(store: ORSetStore(), context: CausalContext([a.device: 3])))
    let part = Delta(emptied, of: FieldKey("others", .set), in: Sailor.ada)
    #expect(restored.apply(part).lastSaveBeforeRollback == Dot(a.device, 2))
  }

  @Test func recordVersionRevealsRollback() throws {
    let (backup, token) = try backupAndGoOn()
    let asked = Replica.opening(backup, token: token, as: 7)
    _ = asked.delta(since: b.version)
    #expect(!asked.state.needsNewDeviceID)
    let told = Replica.opening(backup, token: token, as: 8)
    told.recordVersion(b.version, of: b.device)
    #expect(try told.edit { $0.name = "x" }.dot?.device == DeviceID(8))
  }

  @Test func saveWithoutNewIDThrowsIdentityInUse() throws {
    let c = Replica.empty(3) { DeviceID(3) }
    let other = Replica.empty(3)
    try c.edit { $0.name = "c" }
    try other.edit { $0.name = "other" }
    try other.edit { $0.miles.increment() }
    other.tell(c)
    let (version, state, latest) = (c.version, c.delta(), c.state.hybrid.latest)
    #expect(throws: SaveError.identityInUse(DeviceID(3))) {
      try c.edit { $0.name = "mine" }
    }
    #expect(c.version == version)
    #expect(c.delta() == state)
    #expect(c.state.hybrid.latest == latest)
  }

  @Test func newIDWithSavesThrowsIdentityInUse() throws {
    let c = Replica.empty(3) { DeviceID(2) }
    try b.edit { $0.name = "b" }
    b.tell(c)
    c.recordVersion(ReplicaVersion([DeviceID(3): 1]), of: b.device)
    #expect(throws: SaveError.identityInUse(DeviceID(2))) {
      try c.edit { $0.name = "mine" }
    }
  }

  @Test func mergeReportsEquivocationAndReplicasConverge() throws {
    let (backup, token) = try backupAndGoOn()
    let copies = (
      Replica.opening(backup, token: token, as: 7),
      Replica.opening(backup, token: token, as: 8)
    )
    try editAll(copies.0, "x", 16)
    try editAll(copies.1, "y", 32)
    let c = Replica.empty(3)
    #expect(!copies.0.tell(c).hasFaults)
    let report = copies.1.tell(c)
    #expect(report.equivocations == [Dot(a.device, 3)])
    #expect(c.ada != nil)
    settle(copies.0, copies.1, c)
    #expect(areEqual(copies.0, copies.1, c))
    #expect(try copies.0.edit { $0.name = "z" }.dot?.device == DeviceID(7))
    #expect(try copies.1.edit { $0.name = "z" }.dot?.device == DeviceID(8))
    settle(copies.0, copies.1, c)
    #expect(areEqual(copies.0, copies.1, c))
  }

  /// Two histories of one device ID differ in the digests of earlier saves, or
  /// in the digest of the last save.
  @Test(arguments: [false, true])
  func mergeDistinguishesHistoriesWithEqualSaves(lastIsTheSame: Bool) throws {
    let (c, twins) = (Replica.empty(3), [Replica.empty(4), Replica.empty(4)])
    for (i, twin) in twins.enumerated() {
      try twin.edit { $0.name = lastIsTheSame ? "\(i)" : "x" }
      try twin.edit {
        i == 0 || lastIsTheSame ? $0.ensureExists() : $0.delete()
      }
    }
    twins[0].tell(c)
    let report = twins[1].tell(c)
    #expect(report.equivocations.contains(Dot(DeviceID(4), 2)))
    c.tell(twins[1])
    #expect(areEqual(c, twins[1]))
  }

  @Test func laterSaveDoesNotClearFork() throws {
    let (c, d) = (Replica.empty(3), Replica.empty(5))
    let (x, y) = (Replica.empty(4), Replica.empty(4))
    try x.edit { $0.name = "x" }
    try y.edit { $0.rank = "y" }
    try y.edit { $0.miles.increment() }
    x.tell(c)
    // The first delta shows the fork, and the second one has the rest.
    #expect(y.tell(c).forkedDevices == [DeviceID(4)])
    y.tell(c)
    y.tell(d)
    c.tell(d)
    #expect(d.ada?.name == "x")
    #expect(areEqual(c, d))
  }

  @Test func otherHistoryOfOwnSavesForcesNewID() throws {
    let (x, y) = (Replica.empty(4) { DeviceID(14) }, Replica.empty(4))
    try x.edit { $0.name = "x" }
    try y.edit { $0.name = "y" }
    let delta = try #require(y.delta())
    #expect(x.apply(delta).equivocations.contains(Dot(DeviceID(4), 1)))
    #expect(try x.edit { $0.rank = "x" }.dot == Dot(DeviceID(14), 1))
  }

  /// The version marks no fork.
  ///
  /// The peer finds the fork in the wider delta, and `x` in the peer's delta.
  @Test func versionOfOtherHistoryWidensDelta() throws {
    let (x, y) = (Replica.empty(4) { DeviceID(14) }, Replica.empty(4))
    for name in ["x", "on"] { try x.edit { $0.name = name } }
    try y.edit { $0.name = "y" }
    #expect(!x.recordVersion(y.version, of: DeviceID(5)).hasFaults)
    #expect(x.version.forkedDevices.isEmpty)
    let delta = try #require(x.delta(since: y.version))
    #expect(delta.intervals[DeviceID(4)]?.from == 0)
    #expect(y.apply(delta).forkedDevices == [DeviceID(4)])
    #expect(y.tell(x).forkedDevices == [DeviceID(4)])
    #expect(try x.edit { $0.rank = "x" }.dot == Dot(DeviceID(14), 1))
  }

  @Test func forkOfReplicaWithIDInUseKeepsItsOwnID() throws {
    let (x, y) = (Replica.empty(4), Replica.empty(4))
    try x.edit { $0.name = "x" }
    try y.edit { $0.name = "y" }
    x.apply(try #require(y.delta()))
    let fork = x.fork(as: DeviceID(9))
    #expect(try fork.edit { $0.rank = "x" }.dot == Dot(DeviceID(9), 1))
  }

  /// Saves under the new ID are not compared with saves under the old ID.
  @Test func newIDStartsItsOwnHistory() throws {
    let (backup, token) = try backupAndGoOn()
    let reopened = Replica.opening(backup, token: token, as: 7)
    b.tell(reopened)
    let replicas = [
      a.fork(as: DeviceID(8)), Replica.opening(backup, token: nil, as: 9),
      reopened,
    ]
    for replica in replicas {
      let first = try #require(try replica.edit { $0.name = "1" }.dot)
      replica.tell(b)
      try replica.edit { $0.name = "2" }
      #expect(!replica.tell(b).hasFaults)
      let third = try replica.edit { $0.name = "3" }.dot
      #expect(third == Dot(first.device, 3))
    }
  }

  private func editAll(
    _ replica: Replica, _ text: String, _ number: Int64
  ) throws {
    try replica.edit {
      $0.name = text
      $0.rank = text
      $0.miles.increment(by: number)
      $0.tags.insert(text)
      $0.roles.insert(text)
      $0.pay.append(number, memo: .string(text))
    }
  }

  @Test func fieldWithoutDigestsRevealsEquivocation() throws {
    let (backup, token) = try backupAndGoOn()
    let other = Replica.opening(backup, token: token, as: 7)
    try other.edit { $0.miles.increment(by: 5) }
    let part = try #require(other.delta()?.split(into: 1).first)
    #expect(b.apply(part).equivocations == [Dot(a.device, 3)])
  }

  /// Two stores under one device ID have the same number of saves.
  @Test func tokenOfOtherHistoryChangesDevice() throws {
    let (x, y) = (Replica.empty(4), Replica.empty(4))
    try x.edit { $0.name = "x" }
    try y.edit { $0.name = "y" }
    let opened = Replica.opening(x.state, token: y.restoreToken, as: 7)
    #expect(opened.device == DeviceID(7))
  }

  @Test func restoredReplicaWithIDInUseTakesOneNewID() throws {
    let (backup, token) = try backupAndGoOn()
    let restored = Replica.opening(backup, token: token, as: 7)
    b.tell(restored)
    let again = Replica.opening(restored.state, token: nil, as: 8)
    #expect(try again.edit { $0.name = "x" }.dot == Dot(DeviceID(8), 1))
  }
}
