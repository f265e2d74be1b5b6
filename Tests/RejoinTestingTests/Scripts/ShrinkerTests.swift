//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import RejoinTesting
import Testing

@Suite struct ShrinkerTests {
  @Test func aScriptIsCutToWhatTheFaultNeeds() {
    let script = ScriptGenerator.script(seed: 5, steps: 200)
    /// A made-up fault: a purge of one device after a save of another that
    /// increments a counter.
    func fails(_ script: Script) -> Bool {
      var savers: Set<Int> = []
      for step in script.steps {
        if case .purge(let i) = step, savers.contains(where: { $0 != i }) {
          return true
        }
        guard case .save(let i, let verbs) = step else { continue }
        for case .edit(_, _, .count) in verbs { savers.insert(i) }
      }
      return false
    }
    var shrinker = Shrinker(fails)
    let shortest = shrinker.shrink(script)
    #expect(fails(shortest))
    #expect(shortest.steps.count == 2)
    guard case .save(_, let verbs) = shortest.steps[0] else {
      Issue.record("the save is gone")
      return
    }
    #expect(verbs.count == 1)
  }

  @Test func aSoundScriptHasNoCounterexample() {
    let script = ScriptGenerator.script(seed: 1, steps: 40)
    let found = World<LibraryReplica>.counterexample(in: script)
    #expect(found == nil)
  }
}
