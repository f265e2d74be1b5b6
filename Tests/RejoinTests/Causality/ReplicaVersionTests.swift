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

  @Test func laterSaveKeepsItsTimeAndDigest() {
    let (old, new) = (save(2, at: 9, digest: 8), save(3, at: 1, digest: 1))
    #expect(version(old, new)[phone] == new)
    #expect(version(new, old)[phone] == new)
    #expect(version(new, old).vectorClock == [phone: 3])
  }

  @Test func digestsOfOneSequenceJoinByUnion() {
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

  @Test func joiningReplacesUnknownDigest() {
    let bare = ReplicaVersion([phone: 2] as VectorClock)
    #expect(bare[phone].digest == 0)
    #expect(bare[phone].joined(save(2, digest: 7)).digest == 7)
  }

  @Test func forkedDeviceStaysForked() {
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

  @Test func intervalAfterGapDoesNotContinueVersion() {
    let held = version(save(2, digest: 1))
    for (from, isTaken) in [(0, true), (2, true), (3, false)] {
      let interval = Delta.Interval(
        from: UInt64(from), to: save(5, digest: 9))
      #expect(held.isContinued(by: interval, of: phone) == isTaken)
    }
  }

  @Test func forkedDeviceNeedsIntervalFromZero() {
    var forked = save(5, digest: 0b10)
    forked.isForked = true
    for (held, to) in [
      (save(2, digest: 0b01), forked), (forked, save(6, digest: 0b01)),
    ] {
      for from: UInt64 in [0, 1, 2] {
        let interval = Delta.Interval(from: from, to: to)
        #expect(
          version(held).isContinued(by: interval, of: phone) == (from == 0))
      }
      var all = version(held)
      let result = all.advance(by: version(to).saves, in: RecordRange())
      #expect(result.hasGrown && result.refused.isEmpty)
      #expect(all[phone].isForked)
      #expect(all[phone].digest == 0b11)
      #expect(all[phone].sequence == max(held.sequence, to.sequence))
    }
  }

  @Test func missingDeviceHasNoSaves() {
    #expect(ReplicaVersion()[phone].sequence == 0)
    #expect(version(save(0)) == ReplicaVersion())
    #expect("\(ReplicaVersion())" == "[]")
  }
}
