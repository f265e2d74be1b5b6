// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

@testable import Rejoin

/// Reports of a device ID that two copies of a replica save under.
@Suite(.encodes) struct RollbackTests {
  private let a = Replica.empty(1)

  /// Returns a clone with the first of the original's four saves.
  private func clone() throws -> Replica {
    try a.edit { $0.miles.increment() }
    let (state, token) = (a.state, a.restoreToken)
    for _ in 0..<3 { try a.edit { $0.miles.increment() } }
    return Replica.opening(state, token: token, as: 7)
  }

  @Test func reportsRepeatLastSaveBeforeRollbackUntilNextSave() throws {
    let clone = try clone()
    let b = Replica.empty(2)
    let parts = try #require(a.delta()).split(into: 1)
    #expect(clone.apply(parts[0]).lastSaveBeforeRollback == Dot(a.device, 1))
    // All saves of the original arrive, and the report stays the same.
    a.tell(b)
    #expect(clone.merge(b).lastSaveBeforeRollback == Dot(a.device, 1))
    #expect(clone.version[a.device].sequence == 4)
    try a.edit { $0.miles.increment() }
    #expect(a.tell(clone).lastSaveBeforeRollback == Dot(a.device, 1))
    #expect(clone.deviceChange == nil)
    #expect(try clone.edit { $0.name = "x" }.dot == Dot(DeviceID(7), 1))
    #expect(
      clone.deviceChange
        == .init(
          old: a.device, new: DeviceID(7), lastStored: 1, lastSent: 1))
    #expect(clone.merge(b).lastSaveBeforeRollback == nil)
  }

  @Test func mergeReportsForkOnce() throws {
    let clone = try clone()
    #expect(a.tell(clone).forkedDevices == [a.device])
    try a.edit { $0.miles.increment() }
    #expect(a.tell(clone).forkedDevices.isEmpty)
  }

  @Test func recordVersionWithLaterOwnSaveForcesNewDeviceWithoutFork() throws {
    let clone = try clone()
    let report = clone.recordVersion(a.version, of: a.device)
    #expect(report.lastSaveBeforeRollback == Dot(a.device, 1))
    #expect(report.forkedDevices.isEmpty)
    #expect(clone.version.forkedDevices.isEmpty)
    #expect(try clone.edit { $0.name = "x" }.dot == Dot(DeviceID(7), 1))
  }

  /// A read-only peer shows forged digests for 50 devices.
  @Test func recordVersionDoesNotForkDevices() throws {
    let hub = Replica.empty(60)
    let devices = (1...50).map { Replica.empty($0) }
    for device in devices {
      try device.edit { $0.miles.increment() }
      device.tell(hub)
    }
    for device in devices { hub.tell(device) }
    let forged = ReplicaVersion(forging: hub.version.vectorClock)
    for replica in [hub] + devices {
      #expect(!replica.recordVersion(forged, of: DeviceID(70)).hasFaults)
      #expect(replica.version.forkedDevices.isEmpty)
    }
    // The delta for this peer contains all saves and marks no fork.
    let delta = try #require(hub.delta(since: forged))
    #expect(delta.intervals.values.allSatisfy { $0.from == 0 })
    #expect(delta.intervals.values.allSatisfy { !$0.to.isForked })
    for device in devices {
      let dot = try device.edit { $0.miles.increment() }.dot
      #expect(dot == Dot(device.device, 2))
      device.tell(hub)
    }
    #expect(hub.ada?.miles == 100)
  }

  @Test func rollbackWithoutOwnSavesDoesNotForkDevice() throws {
    _ = try clone()
    let fresh = Replica.opening(
      Replica.empty(1).state, token: Replica.empty(1).restoreToken, as: 7)
    let report = a.tell(fresh)
    #expect(report.lastSaveBeforeRollback == Dot(a.device, 0))
    #expect(report.forkedDevices.isEmpty)
    #expect(try fresh.edit { $0.name = "x" }.dot == Dot(DeviceID(7), 1))
  }

  /// A fork that another device found is not a new equivocation.
  @Test func mergeReportsForkFoundByAnotherDevice() throws {
    let (b, c) = (Replica.empty(2), Replica.empty(3))
    // The first save of `c` is not compared with that of another device.
    try c.edit { $0.name = "c" }
    a.tell(b)
    let clone = try clone()
    for replica in [b, c] { clone.tell(replica) }
    a.tell(clone)
    #expect(clone.version[a.device].isForked)
    #expect(!c.recordVersion(clone.version, of: clone.device).hasFaults)
    #expect(c.version.forkedDevices.isEmpty)
    let report = clone.tell(c)
    #expect(report.forkedDevices == [a.device])
    #expect(report.equivocations.isEmpty)
    #expect(c.version.forkedDevices == [a.device])
  }

  @Test func reopenedReplicaRemembersRollback() throws {
    let clone = Replica.empty(1)
    try a.edit { $0.name = "a" }
    clone.recordVersion(a.version, of: a.device)
    let bytes = clone.state.encoded()
    let opened = Replica.opening(
      try ReplicaState(decoding: bytes), token: clone.restoreToken, as: 7)
    #expect(opened.device == a.device)
    #expect(try opened.edit { $0.name = "x" }.dot == Dot(DeviceID(7), 1))
  }
}
