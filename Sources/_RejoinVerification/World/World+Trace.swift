// SPDX-License-Identifier: Apache-2.0
import Rejoin

// What is observed is digested, so that two runs can be compared, also in
// different processes.
extension World {
  mutating func observe(_ reading: FieldReading) {
    trace.add(reading.value)
    for value in reading.conflicts {
      trace.add(value == nil ? 1 : 2)
      trace.add(value)
    }
    trace.add(UInt64(bitPattern: reading.count))
    for element in reading.elements { trace.add(element) }
    trace.add(UInt64(bitPattern: reading.total))
    if let author = reading.author { observe(author) }
  }

  mutating func observe(_ clock: VectorClock) {
    for entry in clock.entries { observe(Dot(entry.device, entry.count)) }
  }

  private mutating func observe(_ dot: Dot) {
    trace.add(dot.device.high)
    trace.add(dot.device.low)
    trace.add(dot.sequence)
  }
}
