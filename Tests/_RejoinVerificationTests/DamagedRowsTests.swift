// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing
import _RejoinVerification

/// The undamaged rows that the fuzzer starts with.
@Suite struct DamagedRowsTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func undamagedRowsEqualReplica(_ seed: UInt64) throws {
    let rows = DamagedRows(seed: seed)
    #expect(rows.all.count == 5)
    #expect(try rows.areWhole())
  }
}
