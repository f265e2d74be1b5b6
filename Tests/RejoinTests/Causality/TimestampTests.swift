// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite struct TimestampTests {
  @Test func millisecondsAreClamped() {
    let last: Int64 = (1 << 48) - 1
    #expect(Timestamp(milliseconds: .min) == .zero)
    #expect(Timestamp(milliseconds: -1) == .zero)
    #expect(Timestamp(milliseconds: 0) == .zero)
    #expect(Timestamp(milliseconds: last).milliseconds == last)
    #expect(Timestamp(milliseconds: last + 1).milliseconds == last)
    #expect(Timestamp(milliseconds: .max).milliseconds == last)
    #expect(Timestamp.max.milliseconds == last)
  }

  @Test func upperBitsHoldMilliseconds() {
    #expect(Timestamp(milliseconds: 3).rawValue == 3 << 16)
    #expect(Timestamp(rawValue: 3 << 16 | 0xffff).milliseconds == 3)
    #expect(
      Timestamp(rawValue: 3 << 16 | 0xffff) < Timestamp(milliseconds: 4))
  }

  @Test func nextIsOneTickLater() {
    #expect(Timestamp(rawValue: 1 << 16 | 1) < Timestamp(rawValue: 1 << 16 | 2))
    #expect(Timestamp.zero.next == Timestamp(rawValue: 1))
    #expect(
      Timestamp(rawValue: 0xffff).next == Timestamp(milliseconds: 1))
    #expect(Timestamp(rawValue: .max - 1).next == .max)
    #expect(Timestamp.max.next == nil)
  }

  @Test func descriptionShowsLogicalPartAfterPlus() {
    #expect("\(Timestamp(milliseconds: 1000))" == "1000")
    #expect("\(Timestamp(rawValue: 1000 << 16 | 2))" == "1000+2")
  }
}
