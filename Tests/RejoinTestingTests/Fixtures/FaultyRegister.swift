// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A register that keeps concurrent writes, and faults that lose some of them.
struct FaultyRegister: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// A merge keeps only the shown sibling.
    case prunesLosers
    /// A merge keeps the dots of the other siblings without their values.
    case dropsPayloads
  }

  struct Write: Hashable {
    let time: Timestamp
    var value: Int?
  }

  let fault: Fault?
  private var siblings: [Dot: Write] = [:]
  private var seen = CausalContext()

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: FaultyRegister) {
    let (mine, theirs) = (siblings, other.siblings)
    siblings = mine.filter {
      theirs[$0.key] != nil || !other.seen.contains($0.key)
    }
    for (dot, write) in theirs {
      // Any value is greater than a dropped one.
      if let present = siblings[dot] {
        siblings[dot]?.value = max(present.value ?? -1, write.value ?? -1)
        if siblings[dot]?.value == -1 { siblings[dot]?.value = nil }
      } else if !seen.contains(dot) {
        siblings[dot] = write
      }
    }
    seen.merge(other.seen)
    dropLosers()
  }

  private mutating func dropLosers() {
    guard let fault else { return }
    let shown = siblings.max {
      ($0.value.time, $0.key) < ($1.value.time, $1.key)
    }
    for dot in siblings.keys where dot != shown?.key {
      switch fault {
      case .prunesLosers: siblings[dot] = nil
      case .dropsPayloads: siblings[dot]?.value = nil
      }
    }
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) -> FaultyRegister {
    let dot = Dot(device, seen.clock[device] + 1)
    seen.merge(CausalContext(dots: siblings.keys + [dot]))
    siblings = [
      dot: Write(time: random.timestamp(), value: random.number(below: 10))
    ]
    return self
  }
}
