// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A minimal lattice, and faults that break its laws.
struct FaultyValue: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// If two values have equal times, the last to arrive stays.
    case tiesByArrival
    /// Merging adds.
    case sums
    /// Merging adds, and a delta is the difference.
    case sumsDifferences
    /// Merging takes the average.
    case averages
    /// Merging keeps the greater value, though a change may lower it.
    case maximumOfValues
    /// Merging copies the owner of the value.
    case copiesIdentity
    /// The delta is the difference, not the new value.
    case saysDifference
    /// The delta contains more than the change.
    case saysTooMuch
    /// A change has no effect.
    case changesNothing
    /// Some changes throw.
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

  /// Keeps the later value, or the greater one of two values with equal times.
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
