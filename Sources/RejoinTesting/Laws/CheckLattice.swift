// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks that a type is a lattice and that its changes are inflationary, on the
/// values that random scripts reach.
///
///     try checkLattice(from: ORSet<String>()) { set, device, random in
///       set.insert(random.pick(["a", "b"]), on: device)
///     }
///
/// In a script, three devices change their values and merge each other's values
/// and deltas: delayed, duplicated and reordered.
///
/// - Parameters:
///   - initial: The value on which every device begins.
///   - seeds: One script is played for each.
///   - change: Changes a value and returns the delta or the value itself.
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with a smallest script and its seed.
@discardableResult
public func checkLattice<State: Lattice & Equatable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkLattice", from: initial, seeds, change) {
    JoinLaws.violation(in: $0, &$1)
  }
}

/// Checks that merging is idempotent, commutative and associative on every choice
/// of the given values.
///
///     try checkLattice(samples: [VectorClock(), [phone: 1], [phone: 2]])
///
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with the values that show it.
/// - Complexity: O(*n*³) merges for *n* samples.
@discardableResult
public func checkLattice<State: Lattice & Equatable>(
  samples: [State]
) throws(LawFailure) -> LawChecks {
  try check("checkLattice", samples) { JoinLaws.violation(among: $0, &$1) }
}
