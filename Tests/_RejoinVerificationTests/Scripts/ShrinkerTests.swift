// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import _RejoinVerification

@Suite struct ShrinkerTests {
  @Test func shrinkerKeepsOnlyStepsOfFault() throws {
    /// Returns whether a device purges after another one incremented a counter.
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
    let seeds: ClosedRange<UInt64> = 1...100
    let scripts = seeds.lazy.map {
      ScriptGenerator.script(seed: $0, steps: 200)
    }
    let script = try #require(scripts.first(where: fails))
    var shrinker = Shrinker(fails)
    let shortest = shrinker.shrink(script)
    #expect(fails(shortest))
    #expect(shortest.steps.count == 2)
    guard case .save(_, let verbs) = shortest.steps.first else {
      Issue.record("the save is gone")
      return
    }
    #expect(verbs.count == 1)
  }

  @Test func soundScriptHasNoCounterexample() {
    let script = ScriptGenerator.script(seed: 1, steps: 40)
    let found = World<ReplicaUnderTest>.counterexample(in: script)
    #expect(found == nil)
  }

  /// Ten lines suffice to show each fault.
  @Test func printedScriptIsShort() throws {
    try shorten(SpoiledReplica<WrongWinners>.self)
    try shorten(SpoiledReplica<ClaimedClocks>.self)
    try shorten(SpoiledReplica<ForgottenGaps>.self)
  }

  private func shorten<Replica: TestedReplica>(_: Replica.Type) throws {
    for seed in 0..<300 as Range<UInt64> {
      let script = Simulation(seed: seed).script
      guard let found = World<Replica>.counterexample(in: script) else {
        continue
      }
      let lines = found.script.replayText().split(separator: "\n")
      #expect(lines.count <= 10, "\(lines.joined(separator: "\n"))")
      return
    }
    Issue.record("\(Replica.self) passes")
  }

  @Test func shrinkerSimplifiesRemainingSteps() throws {
    /// Returns whether a device could receive a save of another one.
    func fails(_ script: Script) -> Bool {
      var world = World<ReplicaUnderTest>(deviceCount: script.deviceCount)
      for step in script.steps { try? world.perform(step) }
      // The IDs of imports and servers do not count.
      let devices = Set(world.peers.map(\.model.device))
      return world.peers.contains { peer in
        let saves = peer.model.clock.entries.filter {
          devices.contains($0.device)
        }
        return saves.count > 1 && saves.contains { $0.count > 1 }
      }
    }
    var shrinker = Shrinker(fails)
    let script = try #require(
      (0..<20 as Range<UInt64>).lazy.map { Simulation(seed: $0).script }
        .first(where: fails))
    let shortest = shrinker.shrink(script)
    #expect(shortest.deviceCount == 2)
    #expect(shortest.steps.count == 4, "\(shortest.steps)")
    #expect(
      shortest.steps.contains(.sync(from: 0, to: 1))
        || shortest.steps.contains(.sync(from: 1, to: 0)),
      "\(shortest.steps)")
  }
}
