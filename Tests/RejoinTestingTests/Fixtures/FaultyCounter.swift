// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A counter with a number and a sum for each device, and its faults.
struct FaultyCounter: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// The greater sum stays, not the later one.
    case maximumOfSums
    /// A reset's delta adds the negative of the shown count.
    case resetIsNegative
    /// Merging clocks adds their numbers.
    case addsClocks
    /// A number in a delta counts as proof that all earlier changes arrived.
    case clockAsReceived
  }

  struct Entry: Hashable {
    var sequence: UInt64 = 0
    var sum = 0
  }

  let fault: Fault?
  private var entries: [DeviceID: Entry] = [:]
  private var isDifference = false

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: FaultyCounter) {
    if other.isDifference { return add(other) }
    entries.merge(other.entries) { mine, theirs in
      switch fault {
      case .maximumOfSums:
        Entry(
          sequence: max(mine.sequence, theirs.sequence),
          sum: max(mine.sum, theirs.sum))
      case .addsClocks:
        Entry(
          sequence: mine.sequence + theirs.sequence, sum: max(mine, theirs).sum)
      default: max(mine, theirs)
      }
    }
  }

  private mutating func add(_ difference: FaultyCounter) {
    for (device, theirs) in difference.entries {
      let mine = entries[device] ?? Entry()
      if theirs.sequence > mine.sequence {
        entries[device] = Entry(
          sequence: theirs.sequence, sum: mine.sum + theirs.sum)
      }
    }
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) -> FaultyCounter {
    let shown = entries.values.reduce(0) { $0 + $1.sum }
    let isReset = random.chance(percent: 30)
    let amount = isReset ? -shown : 1 + random.number(below: 5)
    var entry = entries[device] ?? Entry()
    entry = Entry(sequence: entry.sequence + 1, sum: entry.sum + amount)
    entries[device] = entry
    if isReset, fault == .resetIsNegative { entry.sum = amount }
    var delta = FaultyCounter(fault)
    if fault == .clockAsReceived {
      entry.sum = amount
      delta.isDifference = true
    }
    delta.entries[device] = entry
    return delta
  }
}

extension FaultyCounter.Entry: Comparable {
  static func < (a: Self, b: Self) -> Bool {
    (a.sequence, a.sum) < (b.sequence, b.sum)
  }
}
