//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import Testing

/// Joins that break one law each: a checker that accepts them is blind.
private struct LastArrival: Lattice, Equatable {
  var value = 0
  mutating func merge(_ other: LastArrival) { value = other.value }
}

private struct Sum: Lattice, Equatable {
  var value = 0
  mutating func merge(_ other: Sum) { value += other.value }
}

private struct Average: Lattice, Equatable {
  var value = 0.0
  mutating func merge(_ other: Average) { value = (value + other.value) / 2 }
}

private struct Greatest: Lattice, Equatable {
  var value = 0
  mutating func merge(_ other: Greatest) { value = max(value, other.value) }
}

@Suite struct LatticeLawsTests {
  private func laws<State>(
    _ subject: LawSubject<State>
  ) -> Set<LawViolation.Law> {
    let result = LatticeLaws.check(subject, seeds: 0..<50)
    return Set(result.violations.map(\.law))
  }

  @Test func lastArrivalDoesNotCommute() {
    let subject = LawSubject(initial: LastArrival()) { state, _, random in
      state.value = random.below(100)
      return state
    }
    #expect(laws(subject).contains(.commutative))
    #expect(laws(subject).contains(.deltaConvergence))
  }

  @Test func aSumIsNotIdempotent() {
    let subject = LawSubject(initial: Sum()) { state, _, random in
      state.value += random.below(100)
      return state
    }
    #expect(laws(subject).contains(.idempotent))
    #expect(laws(subject).contains(.inflation))
  }

  @Test func anAverageIsNotAssociative() {
    let subject = LawSubject(initial: Average()) { state, _, random in
      state.value += Double(random.below(100))
      return state
    }
    #expect(laws(subject).contains(.associative))
    #expect(!laws(subject).contains(.commutative))
  }

  @Test func aDeltaThatSaysTooLittleOrTooMuch() {
    let little = LawSubject(initial: Greatest()) { state, _, random in
      state.value += random.below(100)
      return Greatest()
    }
    #expect(laws(little).contains(.delta))
    let much = LawSubject(initial: Greatest()) { state, _, random in
      state.value += random.below(100)
      return Greatest(value: state.value + 1)
    }
    #expect(laws(much).contains(.absorbed))
  }

  @Test func aMaximumIsALattice() {
    let subject = LawSubject(initial: Greatest()) { state, _, random in
      state.value += random.below(100)
      return state
    }
    #expect(laws(subject).isEmpty)
  }
}
