// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks all laws of a type: those of its join, its deltas and its equality.
///
///     try checkLaws(from: Card()) { card, me, random in
///       let name = card.name.write("Ada", on: me, at: random.timestamp())
///       let tags = card.tags.insert(random.pick(["a", "b"]), on: me)
///       let likes = try card.likes.increment(on: me)
///       return Card(name: name, likes: likes, tags: tags)
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
public func checkLaws<State: Lattice & Hashable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check("checkLaws", from: initial, seeds, change) { run, cases in
    JoinLaws.violation(in: run, &cases)
      ?? DeltaLaws.violation(in: run, &cases)
      ?? CanonicalLaws.violation(in: run, &cases)
  }
}
