// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks all laws of a type: those of its join, of its deltas, and of its
/// equality.
///
///     try checkLaws(from: Card()) { card, me, random in
///       let name = card.name.write("Ada", on: me, at: random.timestamp())
///       let tags = card.tags.insert(random.pick(["a", "b"]), on: me)
///       let likes = try card.likes.increment(on: me)
///       return Card(name: name, likes: likes, tags: tags)
///     }
///
/// - Parameters:
///   - initial: The value on which every device begins.
///   - seeds: One script is played for each.
///   - change: Changes a value and returns the delta.
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with a smallest script and its seed.
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
