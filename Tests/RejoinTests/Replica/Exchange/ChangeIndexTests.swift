// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// An index, and the field clocks that it inverts.
private final class IndexedClocks {
  private var index = ChangeIndex()
  private var clocks: [FieldPosition: VectorClock] = [:]

  func insert(_ device: UInt64, _ sequence: UInt64, in field: UInt32) {
    let location = FieldPosition(record: field, name: 1)
    let dot = Dot(DeviceID(device), sequence)
    let before = clocks[location]?[dot.device] ?? 0
    guard sequence > before else { return }
    clocks[location, default: [:]].advance(to: dot)
    let clocks = clocks
    index.record(location, at: dot, isReplacing: before > 0) {
      clocks[$1]?[$0] ?? 0
    }
  }

  /// Returns the fields that the index finds, with repetitions.
  func fields(since basis: VectorClock) -> [UInt32] {
    index.locations(since: basis, of: index.devices).map(\.record).sorted()
  }

  /// Returns the fields whose clocks the basis does not contain.
  func unseenFields(since basis: VectorClock) -> [UInt32] {
    clocks.filter { !$0.value.isContained(in: basis) }.map(\.key.record)
      .sorted()
  }
}

@Suite struct ChangeIndexTests {
  private let phone = DeviceID(1)

  @Test func indexFindsFieldByItsLastChange() {
    let clocks = IndexedClocks()
    clocks.insert(1, 1, in: 0)
    clocks.insert(1, 2, in: 1)
    clocks.insert(1, 3, in: 0)
    #expect(clocks.fields(since: [:]) == [0, 1])
    #expect(clocks.fields(since: [phone: 2]) == [0])
    #expect(clocks.fields(since: [phone: 3]) == [])
  }

  @Test func indexFindsSavesThatArriveOutOfOrder() {
    let clocks = IndexedClocks()
    clocks.insert(1, 5, in: 0)
    #expect(clocks.fields(since: [phone: 4]) == [0])
    clocks.insert(1, 3, in: 1)
    #expect(clocks.fields(since: [phone: 4]) == [0])
    #expect(clocks.fields(since: [phone: 2]) == [0, 1])
  }

  @Test func frequentlyChangedFieldDoesNotHideOthers() {
    let clocks = IndexedClocks()
    clocks.insert(1, 1, in: 0)
    for n in 2...20 { clocks.insert(1, UInt64(n), in: 1) }
    #expect(clocks.fields(since: [:]) == [0, 1])
    clocks.insert(1, 30, in: 1)
    clocks.insert(1, 25, in: 2)
    #expect(clocks.fields(since: [phone: 27]) == [1])
    #expect(clocks.fields(since: [phone: 20]) == [1, 2])
  }

  /// The index does not grow with the writes of a field.
  @Test func indexDropsStaleEntries() {
    var index = ChangeIndex()
    let location = FieldPosition(record: 0, name: 1)
    for n in 1...10_000 as ClosedRange<UInt64> {
      index.record(location, at: Dot(phone, n), isReplacing: n > 1) {
        _, _ in n
      }
      #expect(index.entryCount <= 64)
    }
    let found = index.locations(since: [:], of: index.devices)
    #expect(found == [location])
    #expect(index.last(of: phone) == 10_000)
  }

  @Test func indexFindsFieldOfManyDevicesOnce() {
    let clocks = IndexedClocks()
    for device in 1...100 as ClosedRange<UInt64> {
      clocks.insert(device, 1, in: 0)
      clocks.insert(device, 2, in: 1)
      clocks.insert(device, 3, in: 0)
    }
    #expect(clocks.fields(since: [:]) == [0, 1])
    #expect(clocks.fields(since: [phone: 3, DeviceID(2): 2]) == [0, 1])
  }

  /// Random insertions with searches in between.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func indexInvertsFieldClocks(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let clocks = IndexedClocks()
    for _ in 0..<60 {
      clocks.insert(
        UInt64(random.number(below: 2) + 1),
        UInt64(random.number(below: 40) + 1),
        in: UInt32(random.number(below: 4)))
      if random.number(below: 4) == 0 {
        let basis: VectorClock = [
          phone: UInt64(random.number(below: 40)),
          DeviceID(2): UInt64(random.number(below: 40)),
        ]
        #expect(
          clocks.fields(since: basis) == clocks.unseenFields(since: basis))
      }
    }
  }
}
