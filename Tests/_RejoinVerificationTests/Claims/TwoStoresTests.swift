// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import _RejoinVerification
import Testing

private struct Note: Entity {
  let title = register("title", of: String.self)
}

@Suite(
  "claim 19: a test of a conflict needs two replicas in one process"
)
struct TwoStoresTests {
  private func store(_ device: UInt64) -> Replica {
    Replica(
      device: DeviceID(device), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(99) })
  }

  @Test func mergeReportsConflictInFourLines() throws {
    let (phone, tablet) = (store(1), store(2))
    try phone.save { $0[Note.self, "1"].title = "here" }
    try tablet.save { $0[Note.self, "1"].title = "there" }
    let report = tablet.merge(phone)

    #expect(report.conflicts.map(\.loser.value) == [.string("here")])
    let note = try #require(tablet[Note.self, "1"])
    #expect(note.title == "there")
    #expect(note.conflictingValues(of: \.title) == ["here"])
  }

  /// Simulates weeks of many devices on a network with faults.
  ///
  /// Messages arrive late, twice, in parts or never.
  @Test func replicasConvergeOnFailingNetwork() {
    let result = Simulator.run(seeds: 0..<20)
    #expect(result.failure == nil)
    #expect(result.counts.deliveries > 0)
    #expect(result.counts.forks + result.counts.restores > 0)
  }
}
