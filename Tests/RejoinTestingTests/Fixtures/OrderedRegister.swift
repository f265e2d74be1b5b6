// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A register that keeps the greatest write, by a sound order or by the one that
/// comes to mind first.
struct OrderedRegister: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// The vector clock decides; then the wall clock, then the device.
    ///
    /// That is not transitive: B@10 comes after A@30, whose write it has seen;
    /// C@20 comes after B@10, and A@30 after C@20.
    case clockFirst
  }

  let fault: Fault?
  private var value = 0
  private var clock = VectorClock()
  private var time = Timestamp.zero
  private var device = DeviceID(0)

  init(_ fault: Fault? = nil) { self.fault = fault }

  mutating func merge(_ other: OrderedRegister) {
    if isBefore(other) { self = other }
  }

  private func isBefore(_ other: OrderedRegister) -> Bool {
    if fault == .clockFirst {
      switch clock.order(relativeTo: other.clock) {
      case .before: return true
      case .equal, .after: return false
      case .concurrent: break
      }
    }
    return (time, device) < (other.time, other.device)
  }

  mutating func change(
    _ device: DeviceID, _ random: inout SeededRandom
  ) -> OrderedRegister {
    value = random.number(below: 100)
    clock[device] += 1
    let now = random.timestamp()
    // A sound order of time alone must follow what was seen.
    let isLate = fault == nil && now <= time
    time = isLate ? Timestamp(rawValue: time.rawValue + 1) : now
    self.device = device
    return self
  }
}
