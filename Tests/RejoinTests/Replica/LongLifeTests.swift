// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing
import _RejoinVerification

/// The size of replicas after many saves, printed and bounded.
///
///     REJOIN_TIER=nightly swift test --filter LongLifeTests
@Suite(.encodes) struct LongLifeTests {
  @Test func bytesStayBoundedAfterManySaves() throws {
    let count = Tier.isNightly ? 1_000_000 : 20_000
    let replica = Replica.empty(1)
    for n in 0..<count { try replica.edit { $0.name = "\(n)" } }
    let bytes = replica.state.encoded().count
    print("long life: \(bytes) bytes after \(count) saves of one field")
    #expect(bytes <= 64 * 1024)
    #expect(replica.state.index.entryCount <= 64)
  }

  @Test func bytesOfHubStayBoundedAfterManyDevices() throws {
    let count: UInt64 = Tier.isNightly ? 4_000 : 300
    let hub = Replica.empty(9)
    for number in 1...count {
      // Device IDs are spread over all values.
      let device = Replica.empty(number &* 0x9e37_79b9_7f4a_7c15)
      try device.save { $0[Berth.self, "\(number)"].name = "b" }
      hub.merge(device)
    }
    let bytes = hub.state.encoded().count
    print("long life: \(bytes) bytes after meeting \(count) devices")
    #expect(bytes <= 2 * 1024 * 1024 * Int(count) / 4_000)
  }

  @Test func replicaDoesNotStoreResolvedConflict() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.edit { $0.name = "a" }
    try b.edit { $0.name = "b" }
    settle(a, b)
    #expect(!a.current.conflicted.isEmpty)
    try a.edit { $0.name = "c" }
    settle(a, b)
    #expect(a.current.conflicted.isEmpty && b.current.conflicted.isEmpty)
  }
}
