// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The laws of joins, and of changes that only add.
enum JoinLaws {
  static func violation<State: Lattice & Equatable>(
    in run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    if let found = violation(among: run.reached.map(\.state), &cases) {
      return found
    }
    for change in run.changes {
      cases.tried()
      if let found = inflationary(change) { return found }
    }
    return nil
  }

  /// Returns the first violation of the simplest broken law.
  static func violation<State: Lattice & Equatable>(
    among states: [State], _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    guard !states.isEmpty else { return nil }
    for size in 1...3 {
      for tuple in cases.tuples(of: states, size: size) {
        cases.tried()
        let found =
          switch size {
          case 1: idempotent(tuple[0])
          case 2: commutative(tuple[0], tuple[1])
          default: associative(tuple[0], tuple[1], tuple[2])
          }
        if let found { return found }
      }
    }
    return nil
  }

  private static func idempotent<State: Lattice & Equatable>(
    _ a: State
  ) -> LatticeViolation? {
    LatticeLaw.idempotent.unless(
      Named("a ⊔ a", a.merging(a)), equals: Named("a", a), given: [])
  }

  private static func commutative<State: Lattice & Equatable>(
    _ a: State, _ b: State
  ) -> LatticeViolation? {
    LatticeLaw.commutative.unless(
      Named("a ⊔ b", a.merging(b)), equals: Named("b ⊔ a", b.merging(a)),
      given: [Named("a", a), Named("b", b)])
  }

  private static func associative<State: Lattice & Equatable>(
    _ a: State, _ b: State, _ c: State
  ) -> LatticeViolation? {
    LatticeLaw.associative.unless(
      Named("(a ⊔ b) ⊔ c", a.merging(b).merging(c)),
      equals: Named("a ⊔ (b ⊔ c)", a.merging(b.merging(c))),
      given: [Named("a", a), Named("b", b), Named("c", c)])
  }

  private static func inflationary<State: Lattice & Equatable>(
    _ change: LatticeRun<State>.Change
  ) -> LatticeViolation? {
    LatticeLaw.inflationary.unless(
      Named("a ⊔ m(a)", change.before.merging(change.after)),
      equals: Named("m(a)", change.after), given: [Named("a", change.before)])
  }
}
