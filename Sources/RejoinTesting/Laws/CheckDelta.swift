// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks that merging a delta has exactly the effect of its change, on the values
/// that random scripts reach.
///
///     try checkDelta(from: PNCounter()) { counter, device, random in
///       try counter.increment(by: 2, on: device)
///     }
///
/// - Parameters:
///   - initial: The value on which every device begins.
///   - seeds: One script is played for each.
///   - change: Changes a value and returns the delta.
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with a smallest script and its seed.
@discardableResult
public func checkDelta<State: Lattice & Equatable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkDelta", from: initial, seeds, change) {
    DeltaLaws.violation(in: $0, &$1)
  }
}

/// Checks that merging the delta of a change has exactly the effect of the change,
/// on each of the given values.
///
///     try checkDelta(samples: sets) { $0.remove("a", on: phone) }
///
/// - Parameters:
///   - samples: The values to change.
///   - change: Changes a value and returns the delta.
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with the values that show it.
@discardableResult
public func checkDelta<State: Lattice & Equatable>(
  samples: [State], change: (inout State) throws -> State
) throws(LawFailure) -> LawChecks {
  try check("checkDelta", samples) { samples, cases in
    DeltaLaws.violation(among: samples, change, &cases)
  }
}
