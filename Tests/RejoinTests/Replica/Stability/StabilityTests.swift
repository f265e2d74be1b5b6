// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct StabilityTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let d = Replica.empty(4)

  /// Exchanges the versions and the missing saves of two replicas.
  private func sync(_ one: Replica, _ other: Replica) {
    one.merge(other)
    other.merge(one)
  }

  @Test func cutAwaitsAllDevicesOnRoster() throws {
    try a.enroll(d.device)
    try a.edit { $0.name = "a" }
    sync(a, b)
    try b.edit { $0.name = "b" }
    for _ in 0..<4 { sync(a, b) }
    #expect(a.stabilityCut.isEmpty && b.stabilityCut.isEmpty)
    for _ in 0..<3 {
      sync(a, d)
      sync(a, b)
    }
    #expect(a.stabilityCut == [a.device: 2, b.device: 1])
  }

  @Test func cutContainsSavesShownByBothDevices() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    for _ in 0..<3 { sync(a, b) }
    #expect(a.stabilityCut == [a.device: 1, b.device: 1])
    #expect(b.stabilityCut == [a.device: 1, b.device: 1])
    try a.edit { $0.name = "on" }
    #expect(a.stabilityCut == [a.device: 1, b.device: 1])
  }

  @Test func purgeOnSingleDeviceRaisesCut() throws {
    try a.edit { $0.name = "a" }
    try a.purgeDeletedRecords()
    #expect(a.stabilityCut == [a.device: 1])
  }

  /// Devices that sync only through a hub receive its cut.
  @Test func cutTravelsThroughHub() throws {
    let hub = Replica.empty(9)
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    for _ in 0..<4 {
      sync(a, hub)
      sync(b, hub)
    }
    #expect(hub.roster == [a.device, b.device])
    #expect(hub.stabilityCut == [a.device: 1, b.device: 1])
    sync(a, hub)
    #expect(a.stabilityCut == [a.device: 1, b.device: 1])
  }

  /// A hub is not on the roster, and a device need not know its ID.
  @Test func recordVersionTakesCutOfHub() throws {
    let hub = Replica.empty(9)
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    for _ in 0..<3 {
      for device in [a, b] {
        device.tell(hub)
        hub.tell(device)
        hub.recordVersion(device.version, of: device.device)
      }
    }
    let state = a.state.encoded()
    var earlier = hub.version
    earlier.stabilityCut = VectorClock()
    #expect(!a.recordVersion(earlier).hasFaults)
    #expect(a.state.encoded() == state)
    #expect(!a.recordVersion(hub.version).hasFaults)
    #expect(a.stabilityCut == [a.device: 1, b.device: 1])
    #expect(a.roster == [a.device, b.device])
    // A version with later own saves still reveals a restored backup.
    let restored = Replica.opening(
      try ReplicaState(decoding: d.state.encoded()), token: d.restoreToken,
      as: 7)
    try d.edit { $0.name = "d" }
    d.tell(hub)
    #expect(
      restored.recordVersion(hub.version).lastSaveBeforeRollback
        == Dot(d.device, 0))
  }

  /// A peer's cut counts only for saves that this replica has.
  @Test func cutDoesNotExceedVersion() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    for _ in 0..<3 { sync(a, b) }
    d.recordVersion(a.version, of: a.device)
    #expect(d.stabilityCut.isEmpty)
    a.tell(d)
    d.recordVersion(a.version, of: a.device)
    #expect(d.stabilityCut == [a.device: 1, b.device: 1])
  }

  @Test func cutDoesNotFall() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    for _ in 0..<3 { sync(a, b) }
    let cut = a.stabilityCut
    try d.edit { $0.name = "d" }
    d.tell(a)
    #expect(a.stabilityCut == cut)
    for _ in 0..<3 { sync(a, b) }
    #expect(a.stabilityCut == cut)
    for _ in 0..<3 {
      sync(a, d)
      sync(a, b)
    }
    #expect(a.stabilityCut[d.device] == 1)
  }

  /// A device that only sends holds the cut back until it is retired.
  @Test func cutDoesNotAwaitRetiredDevice() throws {
    try d.edit { $0.miles.increment() }
    d.tell(a)
    try a.edit { $0.miles.increment() }
    for _ in 0..<4 { sync(a, b) }
    #expect(a.stabilityCut.isEmpty && b.stabilityCut.isEmpty)
    try a.retire(d.device)
    for _ in 0..<3 { sync(a, b) }
    #expect(a.stabilityCut == [a.device: 2, d.device: 1])
    #expect(b.stabilityCut == a.stabilityCut)
  }

  /// A fork knows that its original has the same saves.
  @Test func cutOfForkContainsSavesOfOriginal() throws {
    try a.edit { $0.name = "a" }
    let fork = a.fork(as: DeviceID(8))
    try fork.edit { $0.name = "fork" }
    for _ in 0..<3 { sync(a, fork) }
    #expect(fork.stabilityCut == [a.device: 1, DeviceID(8): 1])
  }

  /// The unsent save can be an edit that the deletion had not seen.
  @Test func deviceDoesNotPassWithUnsentSaves() throws {
    try a.edit { $0.name = "a" }
    try b.edit { $0.rank = "b" }
    sync(a, b)
    let cut = a.stabilityCut
    try a.edit { $0.delete() }
    try b.edit { $0.rank = "unsent" }
    a.tell(b)
    for _ in 0..<3 { a.recordVersion(b.version, of: b.device) }
    #expect(a.stabilityCut[a.device] < 2)
    #expect(cut.isContained(in: a.stabilityCut))
    b.tell(a)
    for _ in 0..<2 {
      a.tell(b)
      a.recordVersion(b.version, of: b.device)
    }
    #expect(a.stabilityCut == [a.device: 2, b.device: 2])
  }

  /// A pull saves under a device that shows no version.
  @Test func deviceDoesNotPassWithUnsentPulls() throws {
    let puller = Replica.empty(6) { DeviceID(60) }
    try puller.edit { $0.name = "p" }
    try a.edit { $0.rank = "a" }
    sync(a, puller)
    try a.edit { $0.delete() }
    a.tell(puller)
    try puller.importRows(from: "crm", modifiedAt: 1) {
      $0[Sailor.self, "ada"].name = "pulled"
    }
    for _ in 0..<3 { a.recordVersion(puller.version, of: puller.device) }
    #expect(a.stabilityCut[a.device] < 2)
    puller.tell(a)
    for _ in 0..<2 { a.recordVersion(puller.version, of: puller.device) }
    #expect(a.stabilityCut[a.device] == 2)
  }

  /// The cut rests on saves that its first holder has.
  ///
  /// One of them can be an edit that keeps a deleted record.
  @Test func recordVersionIgnoresCutWithoutItsSaves() throws {
    let c = Replica.empty(3)
    try a.edit { $0.name = "a" }
    for other in [b, c] {
      try other.save { $0[Berth.self, "b"].name = "b" }
      sync(a, other)
      sync(a, b)
    }
    sync(a, c)
    try a.edit { $0.delete() }
    let deletion = Dot(a.device, a.version[a.device].sequence)
    a.tell(b)
    // The next mark of `b` contains the deletion.
    for other in [a, c] { b.recordVersion(other.version, of: other.device) }
    try c.edit { $0.rank = "kept" }
    a.tell(c)
    c.tell(b)
    for other in [a, c] { b.recordVersion(other.version, of: other.device) }
    #expect(b.stabilityCut.contains(deletion))
    a.recordVersion(b.version, of: b.device)
    #expect(!a.stabilityCut.contains(deletion))
    #expect(try a.purgeDeletedRecords().dot == nil)
    b.tell(a)
    a.recordVersion(b.version, of: b.device)
    #expect(a.stabilityCut.contains(deletion))
    #expect(a.ada?.name == "a" && a.ada?.rank == "kept")
  }

  @Test func cutRisesAlthoughDevicesSaveBeforeEachMerge() throws {
    for round in 1...6 {
      for (one, other) in [(a, b), (b, a)] {
        try one.edit { $0.name = "\(round)" }
        other.merge(one)
      }
    }
    #expect(a.stabilityCut[b.device] > 2 && b.stabilityCut[a.device] > 2)
  }
}
