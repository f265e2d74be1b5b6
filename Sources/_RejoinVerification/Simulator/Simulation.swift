// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A simulation of devices over days, weeks and months, determined by a seed.
///
///     let simulation = Simulation(seed: 7, scale: .quick)
///     try World<ReplicaUnderTest>.run(simulation.script)
///
/// Time, network, storage and random choices are simulated, so a simulation is
/// just a script that you can repeat, shorten and print. The same seed gives
/// the same script.
public struct Simulation: Sendable {
  /// The seed.
  public let seed: UInt64
  /// The steps of the simulation.
  public let script: Script

  /// Creates the simulation that a seed determines.
  public init(
    seed: UInt64, scale: SimulationScale = .quick,
    universe: ScriptUniverse = .standard
  ) {
    self.seed = seed
    var planner = SimulationPlanner(
      seed: seed, scale: scale, universe: universe)
    script = planner.plan()
  }

  /// Runs the simulation.
  ///
  /// - Returns: A digest of all values read during the run. It is the same in
  ///   every run and in every process.
  /// - Throws: The first mismatch between a replica and the oracle.
  public func trace() throws(ScriptMismatch) -> UInt64 {
    try World<ReplicaUnderTest>.ran(script).trace.value
  }
}
