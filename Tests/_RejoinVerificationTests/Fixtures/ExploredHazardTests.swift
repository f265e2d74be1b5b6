// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification
import Testing

/// The explorer must find every mistake in joins within two or three saves, and
/// no mistake in a sound replica.
///
/// It needs at most 2,000 configurations, and usually 50.
@Suite struct ExploredHazardTests {
  @Test(arguments: [
    ExplorerProgram.toyRegister, .toyTimes, .toyCounter, .toySet, .toyDeletion,
  ])
  func soundReplicaPasses(program: ExplorerProgram) throws {
    var explorer = Explorer<ToyReplica>(program)
    _ = try explorer.search(atMost: 2000)
  }

  @Test(arguments: Hazard.allCases.filter { $0.program != nil })
  func hazardIsFound(hazard: Hazard) throws {
    let program = try #require(hazard.program)
    Hazard.$current.withValue(hazard) {
      var explorer = Explorer<ToyReplica>(program)
      if let counts = try? explorer.search(atMost: 4000) {
        Issue.record("\(hazard) passes: \(counts)")
      }
    }
  }
}
