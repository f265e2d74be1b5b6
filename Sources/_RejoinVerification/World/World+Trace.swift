// SPDX-License-Identifier: Apache-2.0
import Rejoin

// The digest of all observations, for comparing two runs, even from different
// processes.
extension World {
  mutating func observe(_ clock: VectorClock) {
    for entry in clock.entries { observe(Dot(entry.device, entry.count)) }
  }

  mutating func observe(_ dot: Dot) {
    trace.add(dot.device.high)
    trace.add(dot.device.low)
    trace.add(dot.sequence)
  }
}
