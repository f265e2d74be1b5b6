// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

@Suite struct ObjectExplorerTests {
  @Test func allOrdersEndEqual() throws {
    var counts = ObjectExplorerCounts()
    for program in ObjectProgram.all {
      var explorer = ObjectExplorer(program)
      counts.add(
        try explorer.search(atMost: Tier.isNightly ? 15_000 : 500))
    }
    print("objects: \(counts)")
    let least = Tier.isNightly ? 1_000 : 10
    #expect(counts.all.allSatisfy { $0 > least }, "\(counts)")
  }
}
