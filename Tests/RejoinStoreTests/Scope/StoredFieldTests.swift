// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinStore

/// Stored data of fields that changes without a save.
@Suite final class StoredFieldTests: StoreSuite {
  private func reopened() throws -> StoredScope {
    try open(path, token: tokenStorage)
  }

  private func peer() -> Replica {
    Replica(
      device: DeviceID(8), schema: [Note.self],
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(9) })
  }

  @Test func receivedFieldsSurviveReopening() throws {
    let (store, peer) = (try reopened(), peer())
    try peer.save { $0[Note.self, "1"].title = "theirs" }
    let delta = try #require(peer.delta())
    try store.update { _ = $0.apply(delta, reporting: .faults) }
    #expect(try reopened().bytes == store.bytes)
    #expect(store.title == "theirs")
  }

  /// The horizon of a large field is stored with its own record.
  @Test func horizonsSurviveReopening() throws {
    let store = try reopened()
    try store.write("first", to: "0")
    for i in 0..<3 {
      try store.update { replica in
        try replica.save { transaction in
          for j in 0..<40 {
            transaction[Note.self, "\(i)"].tags.insert("\(i) \(j)")
          }
        }
        if i == 1 {
          try replica.save { $0[Note.self, "1"].tags.remove("1 3") }
        }
        try replica.save { $0[Note.self, "\(i)"].tags.insert("last") }
      }
    }
    #expect(try reopened().bytes == store.bytes)
  }

  @Test func foldedLedgersSurviveReopening() throws {
    let (store, peer) = (try reopened(), peer())
    for i in 1...5 {
      try store.update { replica in
        try replica.save { $0[Note.self, "1"].log.append(Int64(i)) }
      }
    }
    for _ in 0..<4 {
      peer.merge(store.replica)
      try store.update { replica in
        replica.recordVersion(peer.version, of: peer.device)
        replica.merge(peer)
      }
    }
    let folded = try store.update { $0.foldLedgers() }
    #expect(folded == 5)
    #expect(try reopened().bytes == store.bytes)
  }
}
