// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks that values with the same changes are equal and have equal hashes,
/// using random scripts.
///
/// Equality must depend only on the changes. If it also depends on the order of
/// delivery or on a capacity, for example, replicas with the same changes
/// compare as different.
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
public func checkEquality<State: Lattice & Hashable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkEquality", from: initial, seeds, change) {
    CanonicalLaws.violation(in: $0, &$1)
  }
}

/// Checks that the given values, merged in any order, are equal and have equal
/// hashes.
///
/// - Returns: The number of cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with the values that show
///   it.
/// - Complexity: O(*n*³) merges, where *n* is the number of samples.
@discardableResult
public func checkEquality<State: Lattice & Hashable>(
  samples: [State]
) throws(LawFailure) -> LawChecks {
  try check("checkEquality", samples) {
    CanonicalLaws.violation(among: $0, &$1)
  }
}
