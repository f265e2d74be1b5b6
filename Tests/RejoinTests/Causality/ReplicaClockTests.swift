//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin
import Testing

private let phone = DeviceID(1)

@Suite struct ReplicaClockTests {
  private func save(
    _ n: UInt64, at time: UInt64 = 1, digest: UInt64 = 1
  ) -> ReplicaClock.Save {
    ReplicaClock.Save(
      n: n, time: Timestamp(rawValue: time), digest: digest)
  }

  private func clock(_ save: ReplicaClock.Save) -> ReplicaClock {
    var clock = ReplicaClock()
    clock.insert(save, of: phone)
    return clock
  }

  @Test func theLaterSaveStaysWithItsTimeAndDigest() {
    let (old, new) = (save(2, at: 9, digest: 8), save(3, at: 1, digest: 1))
    #expect(clock(old).merging(clock(new))[phone] == new)
    #expect(clock(new).merging(clock(old))[phone] == new)
    #expect(clock(new).merging(clock(old)).vector == [phone: 3])
  }

  @Test func twoHistoriesOfOneNumberAreJoinedByUnion() {
    let (a, b) = (
      save(2, at: 9, digest: 0b0110), save(2, at: 7, digest: 0b1100)
    )
    #expect(a.contradicts(b))
    let join = save(2, at: 9, digest: 0b1110)
    #expect(clock(a).merging(clock(b))[phone] == join)
    #expect(clock(b).merging(clock(a))[phone] == join)
  }

  @Test func onlyKnownDigestsOfOneNumberContradict() {
    #expect(!save(2, digest: 1).contradicts(save(2, digest: 1)))
    #expect(!save(2, digest: 1).contradicts(save(3, digest: 2)))
    #expect(!save(2, digest: 0).contradicts(save(2, digest: 2)))
    #expect(!save(2, digest: 2).contradicts(save(2, digest: 0)))
    #expect(!save(0, digest: 1).contradicts(save(0, digest: 2)))
  }

  @Test func anUnknownDigestGivesWay() {
    let bare = ReplicaClock([phone: 2] as VectorClock)
    #expect(bare[phone].digest == 0)
    #expect(bare.merging(clock(save(2, digest: 7)))[phone].digest == 7)
  }

  @Test func aMissingDeviceHasSavedNothing() {
    #expect(ReplicaClock()[phone].n == 0)
    #expect(clock(save(0)) == ReplicaClock())
    #expect("\(ReplicaClock())" == "[]")
  }
}
