// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let phone = DeviceID(1)

@Suite(.encodes) struct ReplicaVersionTests {
  private func save(
    _ sequence: UInt64, at time: UInt64 = 1, digest: UInt64 = 1
  ) -> DeviceSave {
    DeviceSave(
      sequence: sequence, time: Timestamp(rawValue: time), digest: digest)
  }

  private func version(_ saves: DeviceSave...) -> ReplicaVersion {
    var version = ReplicaVersion()
    for save in saves { version.insert(save, of: phone) }
    return version
  }

  @Test func theLaterSaveStaysWithItsTimeAndDigest() {
    let (old, new) = (save(2, at: 9, digest: 8), save(3, at: 1, digest: 1))
    #expect(version(old, new)[phone] == new)
    #expect(version(new, old)[phone] == new)
    #expect(version(new, old).vectorClock == [phone: 3])
  }

  @Test func digestsOfOneSequenceAreJoinedByUnion() {
    let (a, b) = (
      save(2, at: 9, digest: 0b0110), save(2, at: 7, digest: 0b1100)
    )
    #expect(a.contradicts(b))
    var join = save(2, at: 9, digest: 0b1110)
    join.isForked = true
    #expect(version(a, b)[phone] == join)
    #expect(version(b, a)[phone] == join)
  }

  @Test func onlyKnownDigestsOfOneSequenceContradict() {
    #expect(!save(2, digest: 1).contradicts(save(2, digest: 1)))
    #expect(!save(2, digest: 1).contradicts(save(3, digest: 2)))
    #expect(!save(2, digest: 0).contradicts(save(2, digest: 2)))
    #expect(!save(2, digest: 2).contradicts(save(2, digest: 0)))
    #expect(!save(0, digest: 1).contradicts(save(0, digest: 2)))
  }

  @Test func anUnknownDigestGivesWay() {
    let bare = ReplicaVersion([phone: 2] as VectorClock)
    #expect(bare[phone].digest == 0)
    #expect(bare[phone].joined(save(2, digest: 7)).digest == 7)
  }

  @Test func aForkedDeviceStaysForked() {
    var forked = save(2, at: 9, digest: 0b0110)
    forked.isForked = true
    var join = save(5, at: 9, digest: 0b1110)
    join.isForked = true
    let plain = save(5, at: 7, digest: 0b1000)
    #expect(version(forked, plain)[phone] == join)
    #expect(version(plain, forked)[phone] == join)
    #expect(version(join).forkedDevices == [phone])
    #expect(version(plain).forkedDevices.isEmpty)
  }

  @Test func anIntervalCountsWhereItContinues() {
    for (from, isTaken) in [(0, true), (2, true), (3, false)] {
      var held = version(save(2, digest: 1))
      let interval = Delta.Interval(
        from: UInt64(from), to: save(5, digest: 9))
      let hasAdvanced = held.advance(by: interval, of: phone)
      #expect(hasAdvanced == isTaken)
      #expect(held[phone].sequence == (isTaken ? 5 : 2))
    }
  }

  @Test func anIntervalOfAForkedDeviceCountsOnlyFromZero() {
    var forked = save(5, digest: 0b10)
    forked.isForked = true
    for (held, to) in [
      (save(2, digest: 0b01), forked), (forked, save(6, digest: 0b01)),
    ] {
      var from2 = version(held)
      let isGap = !from2.advance(by: .init(from: 2, to: to), of: phone)
      #expect(isGap)
      #expect(from2 == version(held))
      var from0 = version(held)
      let isTaken = from0.advance(by: .init(from: 0, to: to), of: phone)
      #expect(isTaken)
      #expect(from0[phone].isForked)
      #expect(from0[phone].digest == 0b11)
      #expect(from0[phone].sequence == max(held.sequence, to.sequence))
    }
    // What is older than what is here leaves no gap.
    var known = version(forked)
    let isKnown = known.advance(by: .init(from: 2, to: save(4)), of: phone)
    #expect(isKnown)
  }

  @Test func aMissingDeviceHasSavedNothing() {
    #expect(ReplicaVersion()[phone].sequence == 0)
    #expect(version(save(0)) == ReplicaVersion())
    #expect("\(ReplicaVersion())" == "[]")
  }
}
