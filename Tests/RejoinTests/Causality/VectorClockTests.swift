// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)
private let watch = DeviceID(3)

@Suite(.encodes) struct VectorClockTests {
  private func drawn(_ random: inout SeededRandom) -> VectorClock {
    var clock = VectorClock()
    for device in 0..<4 as Range<UInt64> {
      clock[DeviceID(device)] = UInt64(random.number(below: 3))
    }
    return clock
  }

  @Test func missingDeviceCountsAsZero() {
    var clock: VectorClock = [phone: 2, tablet: 0]
    #expect(clock[tablet] == 0)
    #expect(clock.entries.count == 1)
    #expect(clock == [phone: 2])
    clock[phone] = 0
    #expect(clock == VectorClock())
    #expect(clock.isEmpty)
    #expect(VectorClock(Dot(phone, 0)).isEmpty)
    clock[watch] = 0
    #expect(clock.isEmpty)
  }

  @Test func clockContainsFirstSavesOfEachDevice() {
    let clock: VectorClock = [phone: 2]
    #expect(clock.contains(Dot(phone, 1)))
    #expect(clock.contains(Dot(phone, 2)))
    #expect(!clock.contains(Dot(phone, 3)))
    #expect(!clock.contains(Dot(tablet, 1)))
  }

  @Test func comparisonHasFourOutcomes() {
    let a: VectorClock = [phone: 2]
    #expect(a.order(relativeTo: [phone: 2]) == .equal)
    #expect(a.order(relativeTo: [phone: 3]) == .before)
    #expect(a.order(relativeTo: [phone: 2, tablet: 1]) == .before)
    #expect(a.order(relativeTo: [phone: 1]) == .after)
    #expect(a.order(relativeTo: [:]) == .after)
    #expect(a.order(relativeTo: [tablet: 1]) == .concurrent)
    #expect(a.order(relativeTo: [phone: 1, tablet: 1]) == .concurrent)
    #expect(VectorClock().order(relativeTo: [:]) == .equal)
    #expect(VectorClock().order(relativeTo: a) == .before)
  }

  @Test func comparisonJoinAndMeetArePointwise() {
    for seed in 0..<500 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let (a, b) = (drawn(&random), drawn(&random))
      let devices = (0..<4).map { DeviceID($0) }
      let below = devices.allSatisfy { a[$0] <= b[$0] }
      #expect(a.isContained(in: b) == below, "seed \(seed)")
      #expect((a.merging(b) == b) == below, "seed \(seed)")
      for device in devices {
        #expect(
          a.merging(b)[device] == max(a[device], b[device]), "seed \(seed)")
        #expect(
          a.intersection(b)[device] == min(a[device], b[device]), "seed \(seed)"
        )
      }
      #expect(
        a.order(relativeTo: b) == mirrored(b.order(relativeTo: a)),
        "seed \(seed)")
      checkForm(of: a.merging(b), seed)
      checkForm(of: a.intersection(b), seed)
    }
  }

  private func mirrored(_ order: CausalOrder) -> CausalOrder {
    switch order {
    case .before: .after
    case .after: .before
    default: order
    }
  }

  private func checkForm(of clock: VectorClock, _ seed: UInt64) {
    let devices = clock.entries.map(\.device)
    #expect(devices == Set(devices).sorted(), "seed \(seed)")
    #expect(clock.entries.allSatisfy { $0.count > 0 }, "seed \(seed)")
  }

  @Test func advancingNeverLowersClock() {
    var clock: VectorClock = [phone: 5]
    clock.advance(to: Dot(phone, 3))
    #expect(clock == [phone: 5])
    clock.advance(to: Dot(phone, .max))
    #expect(clock[phone] == .max)
    #expect(clock.contains(Dot(phone, .max)))
    clock.merge([phone: 1, watch: .max])
    #expect(clock == [phone: .max, watch: .max])
  }

  @Test func literalJoinsCountsOfRepeatedDevice() {
    let clock: VectorClock = [phone: 3, phone: 1]
    #expect(clock == [phone: 3])
  }

  @Test func descriptionListsEntriesInOrder() throws {
    let a = try #require(DeviceID(name: "a"))
    let b = try #require(DeviceID(name: "b"))
    #expect("\([b: 1, a: 2] as VectorClock)" == "[a: 2, b: 1]")
    #expect("\(VectorClock())" == "[]")
  }
}
