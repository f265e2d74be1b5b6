// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The laws of deltas.
enum DeltaLaws {
  static func violation<State: Lattice & Equatable>(
    in run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    for change in run.changes {
      cases.tried()
      if let found = violation(of: change) { return found }
    }
    return anyOrder(run, &cases)
  }

  static func violation<State: Lattice & Equatable>(
    among samples: [State], _ change: (inout State) throws -> State,
    _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    for before in samples {
      cases.tried()
      if let found = violation(before, change) { return found }
    }
    return nil
  }

  private static func violation<State: Lattice & Equatable>(
    _ before: State, _ change: (inout State) throws -> State
  ) -> LatticeViolation? {
    var after = before
    do {
      let delta = try change(&after)
      return violation(
        of: LatticeRun.Change(before: before, delta: delta, after: after))
    } catch {
      return LatticeViolation(refusal: error)
    }
  }

  private static func violation<State: Lattice & Equatable>(
    of change: LatticeRun<State>.Change
  ) -> LatticeViolation? {
    let after = Named("m(a)", change.after)
    let given = [Named("a", change.before), Named("δ", change.delta)]
    return LatticeLaw.delta.unless(
      Named("a ⊔ δ", change.before.merging(change.delta)), equals: after,
      given: given)
      ?? LatticeLaw.absorbed.unless(
        Named("m(a) ⊔ δ", change.after.merging(change.delta)), equals: after,
        given: given)
  }

  /// Checks that merging all deltas into any device's value gives all changes.
  private static func anyOrder<State: Lattice & Equatable>(
    _ run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    let deltas = run.changes.map(\.delta)
    let whole = run.replicas.reduce(run.initial) { $0.merging($1.state) }
    for start in [run.initial] + run.replicas.map(\.state) {
      for order in cases.orders(of: deltas) {
        cases.tried()
        let once = order.reduce(start) { $0.merging($1) }
        let twice = order.reversed().reduce(once) { $0.merging($1) }
        for joined in [once, twice] {
          let found = LatticeLaw.anyOrder.unless(
            Named("all deltas", joined), equals: Named("all changes", whole),
            given: [Named("a", start)] + order.map { Named("δ", $0) })
          if let found { return found }
        }
      }
    }
    return nil
  }
}
