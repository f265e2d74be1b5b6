// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// Runs simulations, one seed after another.
///
///     let result = Simulator.run(seeds: 0..<1000)
///     result.failure      // nil
///     print(result)
public enum Simulator {
  /// Runs the simulations of some seeds, up to the first in which a replica is
  /// not as the oracle says.
  ///
  /// - Parameters:
  ///   - replica: What is simulated.
  ///   - seeds: One simulation is run for each.
  ///   - scale: How long and how large a simulation is.
  ///   - goesOn: Asked after every seed; `false` ends the run.
  public static func run<Replica: TestedReplica>(
    _ replica: Replica.Type = ReplicaUnderTest.self,
    seeds: some Sequence<UInt64>, scale: SimulationScale = .quick,
    goesOn: () -> Bool = { true }
  ) -> SimulationResult {
    var result = SimulationResult()
    for seed in seeds where result.failure == nil {
      let script = Simulation(seed: seed, scale: scale).script
      do throws(ScriptMismatch) {
        result.counts += try World<Replica>.run(script)
        result.seeds += 1
      } catch {
        result.failure = .init(seed: seed, mismatch: error)
      }
      if !goesOn() { break }
    }
    return result
  }
}

/// What some simulations did.
public struct SimulationResult: Sendable, CustomStringConvertible {
  /// The first simulation in which a replica was not as the oracle says.
  public struct Failure: Sendable {
    /// Its seed.
    public let seed: UInt64
    /// What was wrong.
    public let mismatch: ScriptMismatch
  }

  /// How many seeds were run without a failure.
  public internal(set) var seeds = 0
  /// What they did.
  public internal(set) var counts = WorldCounts()
  /// What went wrong, if anything did.
  public internal(set) var failure: Failure?

  /// Creates the result of no simulation.
  public init() {}

  /// Adds what other seeds did; of two failures that of the smaller seed stays.
  public static func += (a: inout SimulationResult, b: SimulationResult) {
    a.seeds += b.seeds
    a.counts += b.counts
    guard let theirs = b.failure else { return }
    if theirs.seed < a.failure?.seed ?? .max { a.failure = theirs }
  }

  /// One line with all counts, and the seed that failed.
  public var description: String {
    let restores: String =
      counts.restores.counted("restore")
      + " (\(counts.unnoticedRestores.grouped) unnoticed, "
      + counts.crashes.counted("crash", "crashes") + ")"
    let parts: [String] = [
      "simulator: \(seeds.counted("seed"))", counts.saves.counted("save"),
      counts.deliveries.counted("delivery", "deliveries"),
      counts.gaps.counted("gap"),
      "\(counts.fragments.counted("fragment")) taken",
      "\(counts.refusedFragments.grouped) refused",
      "\(counts.waits.counted("interval")) blocked",
      "parts of transfers: \(counts.parts)", restores,
      counts.forks.counted("clone"), counts.collisions.counted("collision"),
      counts.cuts.counted("cut"), counts.purges.counted("purge"),
      "undone saves: \(counts.undoings)",
      "saves of contexts: \(counts.contextSaves)",
      counts.returns.counted("return"), counts.pulls.counted("pull"),
      counts.refusals.counted("refusal"),
      "\(counts.loops.counted("loop")) ended", counts.checks.counted("check"),
    ]
    let line = parts.joined(separator: ", ")
    return failure.map { "\(line); seed \($0.seed): \($0.mismatch)" } ?? line
  }
}
