// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

/// Runs simulations, one seed after another.
///
///     let result = Simulator.run(seeds: 0..<1000)
///     result.failure      // nil
///     print(result)
public enum Simulator {
  /// Runs the simulations of some seeds, until a replica differs from the
  /// oracle.
  ///
  /// - Parameters:
  ///   - replica: The type of replica to simulate.
  ///   - seeds: The seeds, one for each simulation.
  ///   - scale: The size of each simulation.
  ///   - goesOn: A closure that is called after every seed. To stop the run,
  ///     return `false`.
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

/// The result of a run of simulations.
public struct SimulationResult: Sendable, CustomStringConvertible {
  /// A simulation that found a difference between a replica and the oracle.
  public struct Failure: Sendable {
    /// The seed of the simulation.
    public let seed: UInt64
    /// The difference between the replica and the oracle.
    public let mismatch: ScriptMismatch
  }

  /// The number of seeds that ran without a failure.
  public internal(set) var seeds = 0
  /// The counts of the simulations.
  public internal(set) var counts = WorldCounts()
  /// The first failure, or `nil` if every simulation succeeded.
  public internal(set) var failure: Failure?

  /// Creates an empty result.
  public init() {}

  /// Adds the result of other seeds.
  ///
  /// If both results have a failure, the one with the smaller seed is kept.
  public static func += (a: inout SimulationResult, b: SimulationResult) {
    a.seeds += b.seeds
    a.counts += b.counts
    guard let theirs = b.failure else { return }
    if theirs.seed < a.failure?.seed ?? .max { a.failure = theirs }
  }

  /// A line with all counts, and with the failure if there is one.
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
      "parts of transfers: \(counts.parts)", "calls: \(counts.calls)", restores,
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
