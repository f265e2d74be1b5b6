// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Runs a check that plays scripts.
///
/// - Parameter name: The name of the checker, which replays a failure.
func check<State: Lattice & Equatable>(
  _ name: String, from initial: State, _ seeds: Range<UInt64>,
  _ change: @escaping RandomChange<State>,
  _ laws: @escaping ScriptedCheck<State>.Inspection
) throws(LawFailure) -> LawChecks {
  try ScriptedCheck(
    checker: name, initial: initial, change: change, inspect: laws
  ).run(seeds: seeds)
}

/// Runs a check of samples.
///
/// - Parameter name: The name of the checker.
func check<State: Lattice & Equatable>(
  _ name: String, _ samples: [State],
  _ laws: ([State], inout LatticeCases) -> LatticeViolation?
) throws(LawFailure) -> LawChecks {
  var cases = LatticeCases.all
  if let found = laws(samples, &cases) {
    throw found.failure(of: State.self, in: name)
  }
  return LawChecks(cases)
}

/// A check that plays scripts, inspects every run, and shrinks a script that
/// breaks a law.
struct ScriptedCheck<State: Lattice & Equatable> {
  typealias Inspection = (
    LatticeRun<State>, inout LatticeCases
  ) -> LatticeViolation?

  /// The name of the checker.
  let checker: String
  let initial: State
  let change: RandomChange<State>
  let inspect: Inspection

  func run(seeds: Range<UInt64>) throws(LawFailure) -> LawChecks {
    var checks = LawChecks()
    var isEffective = false
    for seed in seeds {
      let run = play(LatticeScript(seed: seed))
      var cases = LatticeCases.drawn(seed: ~seed)
      if let found = violation(in: run, &cases) {
        throw failure(found, seed: seed)
      }
      if run.changes.contains(where: { $0.before != $0.after }) {
        isEffective = true
      }
      checks.scripts += 1
      checks.cases += cases.count
    }
    if !isEffective, !seeds.isEmpty {
      throw LatticeViolation(.effective).failure(of: State.self, in: checker)
    }
    return checks
  }

  private func play(_ script: LatticeScript) -> LatticeRun<State> {
    LatticeRun(script, from: initial, change: change)
  }

  private func violation(
    in run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    if let error = run.refusal { return LatticeViolation(refusal: error) }
    return inspect(run, &cases)
  }

  /// Returns the failure of the smallest script, after trying all cases in each
  /// smaller script.
  private func failure(
    _ found: LatticeViolation, seed: UInt64
  ) -> LawFailure {
    var script = LatticeScript(seed: seed)
    let originalCount = script.steps.count
    var smallest = found
    script.shrink { part in
      var cases = LatticeCases.all
      guard let violation = violation(in: play(part), &cases) else {
        return false
      }
      smallest = violation
      return true
    }
    return LawFailure(
      law: smallest.law, type: "\(State.self)", exhibits: smallest.exhibits,
      steps: play(script).story, seed: seed, checker: checker,
      originalCount: originalCount)
  }
}
