// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

/// Runs a checker over some seeds.
typealias Check = (Range<UInt64>) throws(LawFailure) -> LawChecks

/// Returns the failure that a checker finds, or `nil`.
func failure(seeds: Range<UInt64> = 0..<300, _ check: Check) -> LawFailure? {
  do throws(LawFailure) {
    _ = try check(seeds)
    return nil
  } catch {
    return error
  }
}

/// Expects that a law is broken in few steps, and that the failure's seed
/// repeats it exactly.
func expect(
  _ law: LatticeLaw, brokenIn steps: Int,
  sourceLocation: SourceLocation = #_sourceLocation, _ check: Check
) throws {
  let first = failure(check)
  let found = try #require(first, "accepted", sourceLocation: sourceLocation)
  #expect(found.law == law, "\(found)", sourceLocation: sourceLocation)
  #expect(
    found.steps.count == steps, "\(found)", sourceLocation: sourceLocation)
  let seed = try #require(found.seed, sourceLocation: sourceLocation)
  let replayed = failure(seeds: seed..<(seed + 1), check)
  #expect(
    replayed?.description == found.description, sourceLocation: sourceLocation)
}
