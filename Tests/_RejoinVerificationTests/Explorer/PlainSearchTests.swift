// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

@Suite struct PlainSearchTests {
  init() throws { try Premises.check() }

  /// The explorer's shortcuts omit no configuration.
  ///
  /// The explorer merges states with equal knowledge of the oracle. A search
  /// that does not merge them, and runs every step again, finds as many
  /// configurations and no fault.
  @Test(arguments: [
    ExplorerProgram.registers, .deletion(.deleteWins), .sets,
  ])
  func explorerFindsEveryConfiguration(program: ExplorerProgram) throws {
    // With both saves on one device, messages can leave gaps.
    for savers in [[[0], [1]], [[0], [0]]] {
      let program = program.first(2)
        .reduced(savers: savers, times: [0], kept: 1)
      var plain = PlainSearch(program)
      try plain.search()
      var explorer = Explorer<ReplicaUnderTest>(program)
      let counts = try explorer.search()
      #expect(plain.known.count == counts.configurations)
      #expect(plain.storedCount >= plain.known.count)
      #expect((counts.gaps > 0) == (savers == [[0], [0]]))
    }
  }
}
