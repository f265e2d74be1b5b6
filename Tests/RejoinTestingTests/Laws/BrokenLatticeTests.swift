// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

/// The checkers must reject broken lattices.
///
/// Each fixture must fail the law that it breaks, in the fewest steps.
/// `SoundLatticeTests` checks the fixtures without faults.
@Suite struct BrokenLatticeTests {
  @Test(
    arguments: [
      (.tiesByArrival, .commutative, 2), (.sums, .idempotent, 1),
      (.averages, .associative, 1), (.maximumOfValues, .inflationary, 1),
      (.copiesIdentity, .commutative, 1),
    ] as [(FaultyValue.Fault, LatticeLaw, Int)])
  func faultyJoinsBreakLaws(
    _ fault: FaultyValue.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try checkLattice(from: FaultyValue(fault), seeds: seeds) {
        try $0.change($1, &$2)
      }
    }
  }

  @Test(
    arguments: [
      (.saysDifference, .delta, 2), (.sumsDifferences, .absorbed, 1),
      (.saysTooMuch, .delta, 1),
      (.throwsErrors, .accepted, 1),
    ] as [(FaultyValue.Fault, LatticeLaw, Int)])
  func faultyDeltasBreakLaws(
    _ fault: FaultyValue.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try checkDelta(from: FaultyValue(fault), seeds: seeds) {
        try $0.change($1, &$2)
      }
    }
  }

  @Test(
    arguments: [
      (.unionOfDots, .inflationary, 2), (.removalWithoutDot, .delta, 1),
      (.forgetsContext, .delta, 2), (.claimsContext, .delta, 2),
    ] as [(FaultySet.Fault, LatticeLaw, Int)])
  func faultySetsBreakLaws(
    _ fault: FaultySet.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try checkLaws(from: FaultySet(fault), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test(
    arguments: [
      (.prunesLosers, .associative, 3), (.dropsPayloads, .associative, 3),
    ] as [(FaultyRegister.Fault, LatticeLaw, Int)])
  func faultyRegistersBreakLaws(
    _ fault: FaultyRegister.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try checkLattice(from: FaultyRegister(fault), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test func clockFirstOrderIsNotAssociative() throws {
    try expect(.associative, brokenIn: 3) { seeds throws(LawFailure) in
      try checkLattice(from: OrderedRegister(.clockFirst), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test(
    arguments: [
      (.maximumOfSums, .inflationary, 2), (.resetIsNegative, .delta, 2),
      (.addsClocks, .idempotent, 1),
    ] as [(FaultyCounter.Fault, LatticeLaw, Int)])
  func faultyCountersBreakLaws(
    _ fault: FaultyCounter.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try checkLaws(from: FaultyCounter(fault), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test func deltaDoesNotCoverEarlierChanges() throws {
    try expect(.anyOrder, brokenIn: 2) { seeds throws(LawFailure) in
      try checkDelta(from: FaultyCounter(.clockAsReceived), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test(
    arguments: [
      (.equalityByArrival, .canonical, 2), (.hashByArrival, .hashing, 2),
      (.oneSidedEquality, .equality, 1),
    ] as [(FaultyList.Fault, LatticeLaw, Int)])
  func faultyEqualityBreaksLaws(
    _ fault: FaultyList.Fault, _ law: LatticeLaw, _ steps: Int
  ) throws {
    try expect(law, brokenIn: steps) { seeds throws(LawFailure) in
      try checkEquality(from: FaultyList(fault), seeds: seeds) {
        $0.change($1, &$2)
      }
    }
  }

  @Test func changesWithoutEffectFail() {
    let found = failure { seeds throws(LawFailure) in
      try checkLattice(from: FaultyValue(.changesNothing), seeds: seeds) {
        try $0.change($1, &$2)
      }
    }
    #expect(found?.law == .effective)
    #expect(found?.seed == nil)
  }
}
