// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// The tie-breaks that only a forked device reaches.
@Suite(.encodes) struct LatestTests {
  private func latest(
    _ word: String, _ sequence: UInt64, by device: UInt64 = 1,
    at time: UInt64 = 1
  ) -> Latest {
    var latest = Latest()
    latest.write(
      .string(word), at: Dot(DeviceID(device), sequence),
      stamp: Timestamp(rawValue: time))
    return latest
  }

  private func winner(_ a: Latest, _ b: Latest) -> Latest {
    var (x, y) = (a, b)
    x.merge(b, seen: Everything(), otherSeen: Everything())
    y.merge(a, seen: Everything(), otherSeen: Everything())
    #expect(x == y)
    return x
  }

  @Test func timeThenDeviceThenSequenceThenPayload() {
    let later = latest("a", 1, at: 2)
    #expect(winner(later, latest("z", 9, by: 9)) == later)
    let greater = latest("a", 1, by: 2)
    #expect(winner(greater, latest("z", 9)) == greater)
    let newer = latest("a", 2)
    #expect(winner(newer, latest("z", 1)) == newer)
    let payload = latest("z", 1)
    #expect(winner(payload, latest("a", 1)) == payload)
  }

  @Test func nothingIsBelowEverything() {
    #expect(winner(Latest(), latest("a", 1)) == latest("a", 1))
    #expect(Latest().isEmpty)
  }

  @Test func aContextThatTheWriteImpliesIsNotStored() {
    #expect(Latest().impliesContext([:]))
    #expect(latest("a", 3).impliesContext([DeviceID(1): 3]))
    #expect(!latest("a", 3).impliesContext([DeviceID(1): 4]))
    #expect(!latest("a", 3).impliesContext([DeviceID(1): 3, DeviceID(2): 1]))
    #expect(latest("a", 3).dots == [DeviceID(1): 3])
  }
}
