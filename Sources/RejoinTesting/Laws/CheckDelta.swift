// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks that merging a delta has exactly the effect of its change, using
/// random scripts.
///
///     try checkDelta(from: PNCounter()) { counter, device, random in
///       try counter.increment(by: 2, on: device)
///     }
///
/// - Parameters:
///   - initial: The initial value of every device.
///   - seeds: The seeds, one for each script.
///   - change: A closure that changes a value and returns the delta.
/// - Returns: The numbers of scripts and cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with a minimal script and
///   its seed.
@discardableResult
public func checkDelta<State: Lattice & Equatable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkDelta", from: initial, seeds, change) {
    DeltaLaws.violation(in: $0, &$1)
  }
}

/// Checks that merging a delta has exactly the effect of its change, using the
/// given values.
///
///     try checkDelta(samples: sets) { $0.remove("a", on: phone) }
///
/// - Parameters:
///   - samples: The values to change.
///   - change: A closure that changes a value and returns the delta.
/// - Returns: The number of cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with the values that show
///   it.
@discardableResult
public func checkDelta<State: Lattice & Equatable>(
  samples: [State], change: (inout State) throws -> State
) throws(LawFailure) -> LawChecks {
  try check("checkDelta", samples) { samples, cases in
    DeltaLaws.violation(among: samples, change, &cases)
  }
}
