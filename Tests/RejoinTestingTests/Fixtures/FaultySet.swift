// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A small add-wins set of numbers, and its faults.
struct FaultySet: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// All dots of an element stay if both sides contain it.
    case unionOfDots
    /// The delta of a removal contains no dot.
    case removalWithoutDot
    /// The delta of an insertion lacks the dots that it superseded.
    case forgetsContext
    /// The delta claims all dots that its author saw.
    case claimsContext
  }

  let fault: Fault?
  private var elements: [Int: Set<Dot>] = [:]
  private var seen = CausalContext()

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: FaultySet) {
    let elements = Set(elements.keys).union(other.elements.keys)
    for element in elements {
      let mine = self.elements[element, default: []]
      let theirs = other.elements[element, default: []]
      var dots = mine.intersection(theirs)
      dots.formUnion(mine.filter { !other.seen.contains($0) })
      dots.formUnion(theirs.filter { !seen.contains($0) })
      if fault == .unionOfDots, !mine.isEmpty, !theirs.isEmpty {
        dots = mine.union(theirs)
      }
      self.elements[element] = dots.isEmpty ? nil : dots
    }
    seen.merge(other.seen)
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) -> FaultySet {
    let element = random.number(below: 3)
    let dot = Dot(device, seen.clock[device] + 1)
    let isRemoval = random.chance(percent: 40)
    let superseded = elements[element] ?? []
    elements[element] = isRemoval ? nil : [dot]
    seen.merge(CausalContext(dots: [dot]))
    var delta = FaultySet(fault)
    delta.elements[element] = elements[element]
    delta.seen =
      switch fault {
      case .removalWithoutDot where isRemoval: CausalContext()
      case .forgetsContext: CausalContext(dots: [dot])
      case .claimsContext: seen
      default: CausalContext(dots: superseded.union([dot]))
      }
    return delta
  }
}
