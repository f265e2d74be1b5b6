// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A grow-only set that is stored as a list, and faults of its comparisons.
struct FaultyList: Lattice {
  enum Fault: CaseIterable {
    /// Equality depends on the order of arrival.
    case equalityByArrival
    /// Equal lists hash differently.
    case hashByArrival
    /// A list equals every list that contains its elements.
    case oneSidedEquality
  }

  let fault: Fault?
  private var elements: [Int] = []

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: FaultyList) {
    elements += other.elements.filter { !elements.contains($0) }
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) -> FaultyList {
    var delta = FaultyList(fault)
    delta.elements = [random.number(below: 50)]
    merge(delta)
    return delta
  }
}

extension FaultyList: Hashable {
  static func == (a: FaultyList, b: FaultyList) -> Bool {
    switch a.fault {
    case .equalityByArrival: a.elements == b.elements
    case .oneSidedEquality: Set(a.elements).isSubset(of: b.elements)
    default: Set(a.elements) == Set(b.elements)
    }
  }

  func hash(into hasher: inout Hasher) {
    if fault == .hashByArrival {
      hasher.combine(elements)
    } else {
      hasher.combine(Set(elements))
    }
  }
}
