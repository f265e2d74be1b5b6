// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The laws of equality and hashing.
enum CanonicalLaws {
  static func violation<State: Lattice & Hashable>(
    in run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    pairs(run.reached.map(\.state), &cases)
      ?? histories(run, &cases)
      ?? routes(run.replicas.map(\.state), &cases)
  }

  static func violation<State: Lattice & Hashable>(
    among samples: [State], _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    if let found = pairs(samples, &cases) { return found }
    for parts in cases.tuples(of: samples, size: 3) {
      if let found = routes(parts, &cases) { return found }
    }
    return nil
  }

  /// Compares values that contain the same changes.
  private static func histories<State: Lattice & Hashable>(
    _ run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    var first: [Set<Int>: State] = [:]
    for reached in run.reached {
      guard let known = first[reached.history] else {
        first[reached.history] = reached.state
        continue
      }
      cases.tried()
      if let found = same(known, reached.state, given: []) { return found }
    }
    return nil
  }

  /// Compares the results of merging the same values in different orders.
  private static func routes<State: Lattice & Hashable>(
    _ parts: [State], _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    let route = parts.dropFirst().reduce(parts[0]) { $0.merging($1) }
    for order in cases.orders(of: parts) {
      cases.tried()
      let other = (order + order.reversed()).dropFirst()
        .reduce(order[0]) { $0.merging($1) }
      let given = order.map { Named("part", $0) }
      if let found = same(route, other, given: given) { return found }
    }
    return nil
  }

  private static func same<State: Hashable>(
    _ a: State, _ b: State, given: [Named<State>]
  ) -> LatticeViolation? {
    LatticeLaw.canonical.unless(
      Named("one route", a), equals: Named("another", b), given: given)
      ?? hashing(a, b)
  }

  private static func pairs<State: Hashable>(
    _ states: [State], _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    guard !states.isEmpty else { return nil }
    for pair in cases.tuples(of: states, size: 2) {
      cases.tried()
      let (a, b) = (pair[0], pair[1])
      if a != a || (a == b) != (b == a) {
        return LatticeLaw.equality.violation(
          Named("a", a), Named("b", b), given: [])
      }
      if a == b, let found = hashing(a, b) { return found }
    }
    return nil
  }

  private static func hashing<State: Hashable>(
    _ a: State, _ b: State
  ) -> LatticeViolation? {
    a.hashValue == b.hashValue
      ? nil
      : LatticeLaw.hashing.violation(Named("a", a), Named("b", b), given: [])
  }
}
