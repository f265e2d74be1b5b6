// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks that values which have received the same changes in different orders
/// compare equal and hash equal, on the values that random scripts reach.
///
/// If equality depends on the order of delivery, on capacities, or on anything else
/// that is not a change, replicas without unseen changes compare as different.
///
/// - Parameters:
///   - initial: The value on which every device begins.
///   - seeds: One script is played for each.
///   - change: Changes a value and returns the delta or the value itself.
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with a smallest script and its seed.
@discardableResult
public func checkEquality<State: Lattice & Hashable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkEquality", from: initial, seeds, change) {
    CanonicalLaws.violation(in: $0, &$1)
  }
}

/// Checks that the given values, merged in every order, compare equal and hash
/// equal.
///
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with the values that show it.
/// - Complexity: O(*n*³) merges for *n* samples.
@discardableResult
public func checkEquality<State: Lattice & Hashable>(
  samples: [State]
) throws(LawFailure) -> LawChecks {
  try check("checkEquality", samples) {
    CanonicalLaws.violation(among: $0, &$1)
  }
}
