// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

@Suite struct LibraryBytesTests {
  @Test func vectorClockKeepsLawsOfBytes() throws {
    let checks = try checkEncoding(
      from: VectorClock(), seeds: 0..<300, encode: { $0.encoded() },
      decode: { try VectorClock(decoding: $0) }
    ) { clock, device, random in
      let n =
        clock[device] + 1 + random.next() >> UInt64(random.number(below: 64))
      clock.advance(to: Dot(device, max(n, 1)))
      return [device: clock[device]]
    }
    #expect(checks.cases > 300 * 100)
  }
}
