// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks that a type is a lattice and that its changes are inflationary, using
/// random scripts.
///
///     try checkLattice(from: ORSet<String>()) { set, device, random in
///       set.insert(random.pick(["a", "b"]), on: device)
///     }
///
/// In a script, three devices change their values and merge each other's values
/// and deltas, which can be delayed, duplicated and reordered.
///
/// - Parameters:
///   - initial: The initial value of every device.
///   - seeds: The seeds, one for each script.
///   - change: A closure that changes a value and returns the delta or the
///     value itself.
/// - Returns: The numbers of scripts and cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with a minimal script and
///   its seed.
@discardableResult
public func checkLattice<State: Lattice & Equatable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkLattice", from: initial, seeds, change) {
    JoinLaws.violation(in: $0, &$1)
  }
}

/// Checks that merging the given values is idempotent, commutative and
/// associative.
///
///     try checkLattice(samples: [VectorClock(), [phone: 1], [phone: 2]])
///
/// - Returns: The number of cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with the values that show
///   it.
/// - Complexity: O(*n*³) merges, where *n* is the number of samples.
@discardableResult
public func checkLattice<State: Lattice & Equatable>(
  samples: [State]
) throws(LawFailure) -> LawChecks {
  try check("checkLattice", samples) { JoinLaws.violation(among: $0, &$1) }
}
