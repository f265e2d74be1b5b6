// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The smallest lattices there are, and ways in which they are none.
struct FaultyValue: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// Of two values that were set at the same time, the last to arrive stays.
    case tiesByArrival
    /// Merging adds.
    case sums
    /// Merging adds, and a delta is what is to be added.
    case sumsDifferences
    /// Merging takes the middle.
    case averages
    /// Merging keeps the greater value, though a change may lower it.
    case maximumOfValues
    /// Merging copies whose value it is.
    case copiesIdentity
    /// The delta is what was added, not what there is now.
    case saysDifference
    /// The delta says more than the change did.
    case saysTooMuch
    /// A change has no effect.
    case changesNothing
    /// Now and then a change throws.
    case throwsErrors
  }

  struct Refused: Error {}

  let fault: Fault?
  var time = 0
  var value = 0
  var owner: DeviceID?

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: FaultyValue) {
    switch fault {
    case .tiesByArrival: if other.time >= time { self = other }
    case .sums, .sumsDifferences:
      (time, value) = (max(time, other.time), value + other.value)
    case .averages:
      (time, value) = (max(time, other.time), (value + other.value) / 2)
    case .maximumOfValues:
      (time, value) = (max(time, other.time), max(value, other.value))
    case .copiesIdentity:
      owner = other.owner
      joinLater(other)
    default: joinLater(other)
    }
  }

  /// Keeps the later value, and of two at the same time the greater.
  private mutating func joinLater(_ other: FaultyValue) {
    if (time, value) < (other.time, other.value) {
      (time, value) = (other.time, other.value)
    }
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) throws -> FaultyValue {
    if fault == .changesNothing { return self }
    if fault == .throwsErrors, random.chance(percent: 20) { throw Refused() }
    if fault == .copiesIdentity { owner = device }
    let before = self
    time += 1
    value += random.number(below: 20) - 10
    var delta = self
    if fault == .saysDifference || fault == .sumsDifferences {
      delta.value -= before.value
    }
    if fault == .saysTooMuch { delta.time += 1 }
    return delta
  }
}
