// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// The devices that an installation saved under.
@Suite(.encodes) struct OwnDevicesTests {
  private func reopened(
    _ state: ReplicaState, _ token: RestoreToken?, as device: UInt64
  ) throws -> Replica {
    Replica.opening(
      try ReplicaState(decoding: state.encoded()), token: token, as: device)
  }

  @Test func ownDevicesOfNewReplicaListOnlyItsDevice() throws {
    let a = Replica.empty(1)
    #expect(a.ownDevices == [DeviceID(1)])
    try a.edit { $0.name = "a" }
    let b = Replica.empty(2)
    a.tell(b)
    #expect(b.ownDevices == [DeviceID(2)])
    #expect(a.fork(as: DeviceID(3)).ownDevices == [DeviceID(3)])
  }

  /// A restored backup saves under another device, and is then lost as well.
  @Test func ownDevicesOfRestoredBackupListFormerAndLostDevices() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "backed up" }
    let backup = a.state
    try a.edit { $0.name = "lost" }
    var replica = try reopened(backup, a.restoreToken, as: 2)
    try replica.edit { $0.name = "second" }
    #expect(replica.ownDevices == [DeviceID(1), DeviceID(2)])
    // Only the token of device 2 is left.
    replica = try reopened(backup, replica.restoreToken, as: 3)
    #expect(replica.ownDevices == [DeviceID(1), DeviceID(2), DeviceID(3)])
    replica = try reopened(replica.state, replica.restoreToken, as: 4)
    #expect(replica.ownDevices == [DeviceID(1), DeviceID(2), DeviceID(3)])
  }

  @Test func ownDevicesListDeviceBeforeRollback() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "a" }
    let clone = try reopened(a.state, a.restoreToken, as: 9)
    try a.edit { $0.name = "b" }
    clone.apply(try #require(a.delta()))
    try clone.edit { $0.name = "c" }
    #expect(clone.device == DeviceID(9))
    #expect(clone.ownDevices == [DeviceID(1), DeviceID(9)])
  }

  @Test func ownDevicesListPullDevices() throws {
    var next: UInt64 = 10
    let a = Replica.empty(1) {
      next += 1
      return DeviceID(next)
    }
    for server in ["crm", "shop", "crm"] {
      try a.importRows(from: server, modifiedAt: Int64(next)) {
        $0[Sailor.self, "ada"].name = server
      }
    }
    #expect(a.ownDevices == [DeviceID(1), DeviceID(11), DeviceID(12)])
    // They stay own devices after the device changes.
    let restored = try reopened(a.state, nil, as: 20)
    #expect(
      restored.ownDevices == [DeviceID(11), DeviceID(12), DeviceID(20)])
  }

  /// Devices without saves do not count.
  @Test func ownDevicesKeepLastSixteenFormerDevices() throws {
    var replica = Replica.empty(1)
    for device in 2...20 as ClosedRange<UInt64> {
      try replica.edit { $0.name = "\(device)" }
      replica = try reopened(replica.state, nil, as: device)
      replica = try reopened(replica.state, nil, as: device + 100)
    }
    #expect(replica.ownDevices.count == 17)
    // The device of each round saves in the next one.
    let saved = (104...119 as ClosedRange<UInt64>).map { DeviceID($0) }
    #expect(replica.ownDevices == Set(saved + [DeviceID(120)]))
  }

  @Test func decodingRefusesInvalidCountOfFormerDevices() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "a" }
    let b = try reopened(a.state, nil, as: 2)
    let bytes = b.state.encoded()
    let device = Array(DeviceID(1).bytes)
    let place = try #require(
      bytes.indices.last { bytes.dropFirst($0).starts(with: [1] + device) })
    for count in [0, 17, 255] as [UInt8] {
      var damaged = bytes
      damaged[place] = count
      #expect(throws: WireError.self) {
        try ReplicaState(decoding: damaged.resealed)
      }
    }
  }

  @Test func ownDevicesDoNotListImportDevice() throws {
    let a = Replica.empty(1)
    try a.importRows { $0[Sailor.self, "ada"].name = "Ada" }
    let devices = a.version.vectorClock.entries.map(\.device)
    #expect(devices.count == 1 && devices[0].isImport)
    #expect(!a.device.isImport)
    #expect(!a.ownDevices.contains(devices[0]))
  }

  @Test func awaitedDevicesListDeviceWithoutRecordedVersion() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    #expect(a.awaitedDevices.isEmpty)
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    a.tell(b)
    b.tell(a)
    #expect(a.awaitedDevices == [b.device: b.version[b.device].time])
    a.recordVersion(b.version, of: b.device)
    a.recordVersion(b.version, of: b.device)
    #expect(a.stabilityCut[a.device] == 1)
  }
}
