// SPDX-License-Identifier: Apache-2.0
import RejoinTesting
import _RejoinVerification

/// How much was explored and simulated, and the fault that was found, if any.
struct SearchResult {
  /// How much the explorer did.
  struct Explored {
    var counts = ExplorerCounts()
    /// The names of the programs that were explored without a violation.
    var programs: [String] = []
    var violation: ExplorerViolation?
    /// How much the explorer of calls did.
    var calls = CallExplorerCounts()
    /// The first fault of a call, with the actions that lead to it.
    var callFault: String?
    /// How many hours of engines were tried, and what happened in them.
    var trials = 0
    var engines = EngineTrialCounts()
    /// The events of devices that meet in a storage of objects.
    var objects = ObjectTrialCounts()
    /// The law that an engine or a storage broke first.
    var engineFault: String?
  }

  var explored: Explored
  let simulated: SimulationResult
  let seeds: Range<UInt64>
  let scale: SimulationScale
  let time: Duration

  private var lines: [String] {
    let explored =
      explored.violation.map { "stopped in the program \($0.program.name)" }
      ?? "\(explored.programs.count.counted("program")), \(explored.counts)"
    return [
      "explorer: \(explored)", "calls: \(self.explored.calls)",
      "\(self.explored.trials.counted("trial")) of engines: "
        + "\(self.explored.engines)",
      "objects: \(self.explored.objects)",
      "\(simulated), seeds from \(seeds.lowerBound)",
      "time: \(time.components.seconds) s",
    ]
  }

  var text: String { lines.map { $0 + "\n" }.joined() }

  var markdown: String {
    let verdict =
      fault.map {
        "**A fault was found.** \($0.what)\n\n```\n\($0.script)```\n"
      }
      ?? "No violation.\n"
    return "# What was checked\n\n" + lines.map { "- \($0)\n" }.joined()
      + "- programs: \(explored.programs.joined(separator: ", "))\n\n"
      + verdict
  }

  /// The fault, and a shrunk script that shows it.
  ///
  /// If both searches found one, the explorer's is preferred, as its programs
  /// are smaller.
  var fault: (what: String, script: String)? {
    if let violation = explored.violation {
      return (
        "\(violation.program.name): \(violation.mismatch)",
        SearchResult.text(
          violation.script, universe: violation.program.universe)
      )
    }
    if let fault = explored.callFault ?? explored.engineFault {
      return (fault, "")
    }
    return simulated.failure.map { failure in
      let script = Simulation(seed: failure.seed, scale: scale).script
      return (
        "seed \(failure.seed): \(failure.mismatch)",
        SearchResult.text(script, universe: .standard)
      )
    }
  }

  private static func text(
    _ script: Script, universe: ScriptUniverse
  ) -> String {
    let shortest = World<ReplicaUnderTest>.counterexample(
      in: script, universe: universe)
    guard let shortest else { return script.replayText(universe: universe) }
    return "# \(shortest.mismatch)\n"
      + shortest.script.replayText(universe: universe)
  }
}
