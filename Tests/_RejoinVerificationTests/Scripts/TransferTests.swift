// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification
import Testing

/// Interrupted transfers in parts, with other senders, restored backups and
/// devices with two histories.
@Suite struct TransferTests {
  private static let seeds: Range<UInt64> =
    0..<(Tier.isNightly ? 40_000 : 1_000)

  @Test func everyPartMatchesOracle() throws {
    var counts = try run(ReplicaUnderTest.self)
    counts += try run(FragmentingReplica.self)
    print("transfers: \(counts)")
    let least = Tier.isNightly ? 500 : 5
    for count in [
      counts.resumed, counts.replaced, counts.refused, counts.doubled,
      counts.large, counts.forks, counts.restores, counts.relayedCopies,
      counts.copies - counts.relayedCopies,
    ] {
      #expect(count >= least)
    }
  }

  /// The checkers detect a prefix of other records even if no device is copied.
  @Test func checkersDetectPrefixOfOtherRecords() {
    #expect(finds(SpoiledReplica<KeptPrefixes>.self))
    #expect(finds(SpoiledReplica<TornPrefixes>.self))
    #expect(!finds(SpoiledReplica<Nothing>.self))
  }

  private func finds<Replica: TestedReplica>(_: Replica.Type) -> Bool {
    var weights = ScriptWeights.transfers
    (weights.unnoticedRestores, weights.forks, weights.undoings) = (0, 0, 0)
    return (0..<100 as Range<UInt64>).contains { seed in
      let script = ScriptGenerator.script(
        seed: seed, steps: 60, weights: weights)
      return (try? World<Replica>.run(script)) == nil
    }
  }

  private func run<Replica: TestedReplica>(
    _: Replica.Type
  ) throws -> PartCounts {
    var counts = PartCounts()
    for seed in Self.seeds {
      let script = ScriptGenerator.script(
        seed: seed, steps: 60, weights: .transfers)
      do { counts += try World<Replica>.run(script).parts } catch {
        Issue.record("seed \(seed): \(error)")
        let shortest = World<Replica>.counterexample(in: script)
        print(shortest?.mismatch as Any, shortest?.script.replayText() ?? "")
        throw error
      }
    }
    return counts
  }
}
