// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct StampedTests {
  @Test func orderComparesValuesBeforeTimes() {
    let steps: [Stamped] = [
      Stamped(nil, at: .zero), Stamped(nil, at: .max),
      Stamped(.null, at: .zero), Stamped(.int(1), at: .max),
      Stamped(.string("a"), at: .zero), Stamped(.string("a"), at: .max),
    ]
    for (i, a) in steps.enumerated() {
      for (j, b) in steps.enumerated() {
        #expect((a < b) == (i < j), "\(a) \(b)")
      }
    }
  }
}
