// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// Devices over days, weeks and months, on a timeline that a seed determines.
///
///     let simulation = Simulation(seed: 7, scale: .quick)
///     try World<ReplicaUnderTest>.run(simulation.script)
///
/// Time, network, storage and chance are all made up, so that a simulation is
/// no more than a script: it can be run again, shortened and printed. The same
/// seed gives the same script.
public struct Simulation: Sendable {
  /// The seed.
  public let seed: UInt64
  /// What happens.
  public let script: Script

  /// Works out what happens.
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
  /// - Returns: A digest of everything that was read on the way; it is the same in
  ///   every run and in every process.
  /// - Throws: The first thing in which a replica differs from the oracle.
  public func trace() throws(ScriptMismatch) -> UInt64 {
    try World<ReplicaUnderTest>.ran(script).trace.value
  }
}
