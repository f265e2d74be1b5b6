// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct TallyTests {
  private func entry(
    _ device: UInt64, _ sequence: UInt64, _ p: UInt64, _ m: UInt64
  )
    -> Tally.Entry
  {
    Tally.Entry(
      device: DeviceID(device), sequence: sequence, increments: p, decrements: m
    )
  }

  @Test func theLaterSumsStay() {
    let old = Tally(entries: [entry(1, 3, 9, 0), entry(2, 1, 4, 0)])
    let new = Tally(entries: [entry(1, 4, 9, 5), entry(3, 1, 1, 0)])
    let join = Tally(
      entries: [entry(1, 4, 9, 5), entry(2, 1, 4, 0), entry(3, 1, 1, 0)])
    #expect(old.merging(new) == join)
    #expect(new.merging(old) == join)
  }

  /// A reset may arrive before the changes it cancels.
  @Test func cancelledSumsAreAddedToo() {
    let reset = Tally(entries: [], cancelled: [entry(1, 2, 7, 0)])
    let old = Tally(entries: [entry(1, 1, 3, 0)])
    #expect(old.merging(reset).value == 0)
    #expect(old.merging(reset).entries == [entry(1, 2, 7, 0)])
  }

  @Test func aDeviceUsedTwiceKeepsTheGreaterSums() {
    let a = Tally(entries: [entry(1, 2, 7, 1)])
    let b = Tally(entries: [entry(1, 2, 7, 4)])
    let c = Tally(entries: [entry(1, 2, 8, 0)])
    #expect(a.merging(b) == b)
    #expect(b.merging(a) == b)
    #expect(b.merging(c) == c)
    #expect(c.merging(b) == c)
  }

  @Test func aResetOfWhatWasObserved() {
    var tally = Tally(entries: [entry(1, 1, 3, 0)])
    let observed = tally
    #expect(tally.add(4, 0, by: DeviceID(1), sequence: 2) == entry(1, 2, 7, 0))
    #expect(tally.add(0, 1, by: DeviceID(2), sequence: 1) == entry(2, 1, 0, 1))
    tally.reset(observed: observed)
    #expect(tally.value == 3)
    #expect(tally.hasContent)
    tally.reset()
    #expect(tally.value == 0)
    #expect(!tally.hasContent)
    tally.reset(observed: observed)
    #expect(tally.value == 0)
  }

  /// What was observed may be ahead of what is held.
  @Test func aResetOfWhatHasNotArrived() {
    var tally = Tally(entries: [entry(1, 1, 3, 0)])
    tally.reset(observed: Tally(entries: [entry(1, 2, 7, 0)]))
    #expect(tally.value == 0)
    #expect(tally.entries == [entry(1, 2, 7, 0)])
  }

  @Test func entriesStaySortedByDevice() {
    var tally = Tally()
    for device in [5, 1, 3, 2, 4, 3, 1] as [UInt64] {
      #expect(tally.add(1, 0, by: DeviceID(device)) != nil)
    }
    #expect(tally.entries.map(\.device) == (1...5).map { DeviceID($0) })
    #expect(tally.value == 7)
    #expect(tally.dots[DeviceID(3)] == 2)
  }

  @Test func whetherSumsBearAChange() {
    var tally = Tally(entries: [entry(1, 1, .max - 1, .max)])
    #expect(tally.canAdd(1, 0, by: DeviceID(1)))
    #expect(!tally.canAdd(2, 0, by: DeviceID(1)))
    #expect(!tally.canAdd(0, 1, by: DeviceID(1)))
    #expect(tally.canAdd(.max, .max, by: DeviceID(2)))
    let before = tally
    #expect(tally.add(2, 0, by: DeviceID(1)) == nil)
    #expect(tally.add(0, 1, by: DeviceID(1)) == nil)
    #expect(tally == before)
  }

  @Test func theLastSequenceNumber() {
    var tally = Tally(entries: [entry(1, .max - 1, 0, 0)])
    #expect(tally.add(1, 0, by: DeviceID(1)) == entry(1, .max, 1, 0))
    #expect(tally.add(1, 0, by: DeviceID(1)) == nil)
    #expect(tally.value == 1)
  }
}
