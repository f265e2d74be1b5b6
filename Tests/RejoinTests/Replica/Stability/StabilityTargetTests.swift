// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Targets of stability and the devices that pass them.
@Suite(.encodes) struct StabilityTargetTests {
  private let a = DeviceID(1)
  private let b = DeviceID(2)
  private let c = DeviceID(3)

  @Test func devicePassesTargetByShowingAllItsSaves() {
    var stability = Stability()
    stability.record(
      [a: 1], of: b, holding: [a: 2], beyond: [:], mayPass: true)
    #expect(stability.target == [a: 2])
    #expect(stability.passed.isEmpty)
    stability.record(
      [a: 2, c: 9], of: b, holding: [a: 5], beyond: [:], mayPass: true)
    #expect(stability.target == [a: 2])
    #expect(stability.passed == [b])
  }

  @Test func targetBecomesStableWhenAllDevicesPass() {
    var stability = Stability()
    stability.record(
      [a: 2], of: b, holding: [a: 2], beyond: [:], mayPass: true)
    #expect(stability.advance([b, c], holding: [a: 3]) == nil)
    stability.record(
      [a: 3], of: c, holding: [a: 3], beyond: [:], mayPass: true)
    #expect(stability.advance([b, c], holding: [a: 4]) == [a: 2])
    #expect(stability.target == [a: 4])
    // A device that passed one target must still pass the next.
    #expect(stability.advance([b, c], holding: [a: 4]) == nil)
    stability.record(
      [a: 4], of: b, holding: [a: 4], beyond: [:], mayPass: true)
    #expect(stability.advance([b, c], holding: [a: 4]) == nil)
    stability.record(
      [a: 4], of: c, holding: [a: 4], beyond: [:], mayPass: true)
    #expect(stability.advance([b, c], holding: [a: 4]) == [a: 4])
  }

  /// Without later saves, a device does not pass the same target again.
  @Test func reachedTargetStaysUntilLaterSaves() {
    var stability = Stability()
    for device in [b, c] {
      stability.record(
        [a: 2], of: device, holding: [a: 2], beyond: [:], mayPass: true)
    }
    #expect(stability.advance([b, c], holding: [a: 2]) == [a: 2])
    #expect(stability.target == [a: 2])
    #expect(stability.passed == [b, c])
    stability.record(
      [a: 2], of: b, holding: [a: 3], beyond: [a: 2], mayPass: true)
    #expect(stability.target == [a: 3])
    #expect(stability.passed.isEmpty)
  }

  /// Without saves, no target exists.
  @Test func emptyVersionDoesNotPassTarget() {
    var stability = Stability()
    stability.record(
      [:], of: b, holding: [:], beyond: [:], mayPass: true)
    stability.record(
      [a: 1], of: c, holding: [a: 1], beyond: [:], mayPass: true)
    #expect(stability.target == [a: 1])
    #expect(stability.passed == [c])
  }

  @Test func advanceWithoutAwaitedDevicesReturnsHeldSaves() {
    var stability = Stability()
    #expect(stability.advance([], holding: [a: 3]) == [a: 3])
  }

  @Test func recordVersionDoesNotLowerCut() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.edit { $0.name = "a" }
    try a.purgeDeletedRecords()
    #expect(a.stabilityCut == [a.device: 1])
    try b.edit { $0.name = "b" }
    b.tell(a)
    a.recordVersion(b.version, of: b.device)
    #expect(a.stabilityCut == [a.device: 1])
  }

  /// A fork need not exchange deltas with its original.
  @Test func forkCountsSavesOfOriginalAsStable() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "a" }
    let fork = a.fork(as: DeviceID(8))
    try fork.purgeDeletedRecords()
    #expect(fork.stabilityCut == [a.device: 1])
  }
}
