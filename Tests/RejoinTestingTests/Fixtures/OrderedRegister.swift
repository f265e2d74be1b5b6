// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A register that keeps the greatest write, by a sound or by an intransitive
/// order.
struct OrderedRegister: Lattice, Hashable {
  enum Fault: CaseIterable {
    /// The vector clock decides first, then the wall clock, then the device.
    ///
    /// The order is not transitive. B@10 comes after A@30, because it saw that
    /// write. C@20 comes after B@10, and A@30 comes after C@20.
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
    // An order by time is sound only if a write is later than those that it
    // saw.
    let isLate = fault == nil && now <= time
    time = isLate ? Timestamp(rawValue: time.rawValue + 1) : now
    self.device = device
    return self
  }
}
