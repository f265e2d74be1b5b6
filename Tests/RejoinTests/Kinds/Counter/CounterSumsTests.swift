// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct CounterSumsTests {
  private func entry(
    _ device: UInt64, _ sequence: UInt64, _ p: UInt64, _ m: UInt64
  )
    -> PNCounter.Entry
  {
    PNCounter.Entry(
      device: DeviceID(device), sequence: sequence, increments: p, decrements: m
    )
  }

  @Test func mergeKeepsLaterSums() {
    let old = PNCounter(entries: [entry(1, 3, 9, 0), entry(2, 1, 4, 0)])
    let new = PNCounter(entries: [entry(1, 4, 9, 5), entry(3, 1, 1, 0)])
    let join = PNCounter(
      entries: [entry(1, 4, 9, 5), entry(2, 1, 4, 0), entry(3, 1, 1, 0)])
    #expect(old.merging(new) == join)
    #expect(new.merging(old) == join)
  }

  @Test func resetIncludesCanceledChanges() {
    var reset = PNCounter(entries: [entry(1, 2, 7, 0)])
    reset.reset()
    let old = PNCounter(entries: [entry(1, 1, 3, 0)])
    #expect(old.merging(reset).value == 0)
    #expect(old.merging(reset).entries == [entry(1, 2, 7, 0)])
  }

  @Test func mergeKeepsGreaterSumsOfForkedDevice() {
    let a = PNCounter(entries: [entry(1, 2, 7, 1)])
    let b = PNCounter(entries: [entry(1, 2, 7, 4)])
    let c = PNCounter(entries: [entry(1, 2, 8, 0)])
    #expect(a.merging(b) == b)
    #expect(b.merging(a) == b)
    #expect(b.merging(c) == c)
    #expect(c.merging(b) == c)
  }

  @Test func resetCancelsOnlyObservedChanges() {
    var counter = PNCounter(entries: [entry(1, 1, 3, 0)])
    let observed = counter
    #expect(
      counter.add(4, 0, on: DeviceID(1), sequence: 2) == entry(1, 2, 7, 0))
    #expect(
      counter.add(0, 1, on: DeviceID(2), sequence: 1) == entry(2, 1, 0, 1))
    counter.cancel(observed: observed)
    #expect(counter.value == 3)
    #expect(counter.hasContent)
    counter.reset()
    #expect(counter.value == 0)
    #expect(!counter.hasContent)
    counter.cancel(observed: observed)
    #expect(counter.value == 0)
  }

  /// The observed counter can be ahead of the stored one.
  @Test func resetIncludesObservedMissingChanges() {
    var counter = PNCounter(entries: [entry(1, 1, 3, 0)])
    counter.cancel(observed: PNCounter(entries: [entry(1, 2, 7, 0)]))
    #expect(counter.value == 0)
    #expect(counter.entries == [entry(1, 2, 7, 0)])
  }

  @Test func entriesStaySortedByDevice() {
    var counter = PNCounter()
    for device in [5, 1, 3, 2, 4, 3, 1] as [UInt64] {
      #expect(counter.add(1, 0, on: DeviceID(device)) != nil)
    }
    #expect(counter.entries.map(\.device) == (1...5).map { DeviceID($0) })
    #expect(counter.value == 7)
    #expect(counter.dots[DeviceID(3)] == 2)
  }

  @Test func addRefusesOverflowingSums() {
    var counter = PNCounter(entries: [entry(1, 1, .max - 1, .max)])
    #expect(counter.entry(of: DeviceID(1)).canAdd(1, 0))
    #expect(!counter.entry(of: DeviceID(1)).canAdd(2, 0))
    #expect(!counter.entry(of: DeviceID(1)).canAdd(0, 1))
    #expect(counter.entry(of: DeviceID(2)).canAdd(.max, .max))
    let before = counter
    #expect(counter.add(2, 0, on: DeviceID(1)) == nil)
    #expect(counter.add(0, 1, on: DeviceID(1)) == nil)
    #expect(counter == before)
  }

  @Test func addStopsAtLastSequenceNumber() {
    var counter = PNCounter(entries: [entry(1, .max - 1, 0, 0)])
    #expect(counter.add(1, 0, on: DeviceID(1)) == entry(1, .max, 1, 0))
    #expect(counter.add(1, 0, on: DeviceID(1)) == nil)
    #expect(counter.value == 1)
  }
}
