// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
@testable import _RejoinVerification
import Testing

@Suite(.encodes) struct ReplicaStateWireTests {
  @Test func replicaStateRoundTrips() throws {
    for replica in WireCorpus.shared.replicas {
      let bytes = replica.state.encoded()
      let read = try ReplicaState(decoding: bytes)
      #expect(read.encoded() == bytes)
      #expect(RestoreToken(read) == replica.restoreToken)
      let opened = Replica(
        opening: read, token: replica.restoreToken,
        schema: ScriptUniverse.standard.schema,
        wallClock: ManualClock().wallClock,
        makeDeviceID: { DeviceID(high: 8, low: 8) })
      #expect(opened.device == replica.device)
      #expect(opened.version == replica.version)
      #expect(opened.delta() == replica.delta())
      #expect(opened.allRecordIDs == replica.allRecordIDs)
      #expect(opened.stabilityCut == replica.stabilityCut)
      #expect(opened.latestMissingSaves == replica.latestMissingSaves)
    }
  }

  @Test func decodedStateContinuesAsSameReplica() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.edit { $0.name = "first" }
    a.tell(b)
    b.recordVersion(a.version, of: a.device)
    b.confirmTokenStored(b.restoreToken)
    try b.importRows(from: "crm", modifiedAt: 5) {
      $0[Sailor.self, "eve"].name = "E"
    }
    let stored = try ReplicaState(decoding: b.state.encoded())
    let read = Replica.opening(stored, token: b.restoreToken, as: 9)
    #expect(read.state.encoded() == b.state.encoded())
    #expect(read.version == b.version)
    let dot = try read.edit { $0.name = "then" }.dot
    #expect(dot == Dot(DeviceID(2), 1))
    #expect(read.ada?.name == "then")
    read.tell(a)
    #expect(a.ada?.name == "then")
  }

  @Test func openingDecodedBackupChangesDevice() throws {
    let replica = Replica.empty(1)
    try replica.edit { $0.name = "kept" }
    let backup = replica.state.encoded()
    try replica.edit { $0.name = "lost" }
    let read = Replica.opening(
      try ReplicaState(decoding: backup), token: replica.restoreToken, as: 4)
    #expect(read.device == DeviceID(4))
  }

  @Test func reopenedReplicaReplacesIDInUse() throws {
    let replica = Replica.empty(1)
    try replica.edit { $0.name = "mine" }
    replica.recordVersion(ReplicaVersion([DeviceID(1): 2]), of: DeviceID(2))
    let read = Replica.opening(
      try ReplicaState(decoding: replica.state.encoded()),
      token: replica.restoreToken, as: 9)
    #expect(try read.edit { $0.name = "next" }.dot == Dot(DeviceID(9), 1))
  }
}
