// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

/// Checks of given values.
@Suite struct SampleTests {
  private func values(
    _ fault: FaultyValue.Fault?, _ count: Int
  ) throws -> [FaultyValue] {
    var random = SeededRandom(seed: 3)
    return try (0..<count).map { _ in
      var value = FaultyValue(fault)
      _ = try value.change(DeviceID(1), &random)
      return value
    }
  }

  private func list(_ fault: FaultyList.Fault?, seed: UInt64) -> FaultyList {
    var random = SeededRandom(seed: seed)
    var list = FaultyList(fault)
    _ = list.change(DeviceID(1), &random)
    return list
  }

  @Test func checkTriesEveryChoiceOfSamples() throws {
    let samples = try values(nil, 4)
    #expect(try checkLattice(samples: samples).cases == 4 + 16 + 64)
    #expect(try checkLattice(samples: samples).scripts == 0)
    let deltas = try checkDelta(samples: samples) { value in
      var random = SeededRandom(seed: 1)
      return try value.change(DeviceID(1), &random)
    }
    #expect(deltas.cases == 4)
    #expect(try checkEquality(samples: samples).cases == 16 + 64 * 6)
  }

  @Test func emptySamplesHaveNoCases() throws {
    #expect(try checkLattice(samples: [VectorClock]()).cases == 0)
    #expect(try checkEquality(samples: [VectorClock]()).cases == 0)
  }

  @Test func failureShowsSamplesThatBreakLaw() throws {
    let samples = try values(.tiesByArrival, 2)
    let failure = failure { _ throws(LawFailure) in
      try checkLattice(samples: samples)
    }
    #expect(failure?.law == .commutative)
    #expect(failure?.exhibits.map(\.name) == ["a", "b", "a ⊔ b", "b ⊔ a"])
    #expect(failure?.steps == [])
    #expect(failure?.seed == nil)
    #expect(failure?.description.contains("replay") == false)
  }

  @Test func failureShowsWrongDelta() throws {
    let samples = try values(.saysTooMuch, 2)
    let failure = failure { _ throws(LawFailure) in
      try checkDelta(samples: samples) { value in
        var random = SeededRandom(seed: 1)
        return try value.change(DeviceID(1), &random)
      }
    }
    #expect(failure?.law == .delta)
    #expect(failure?.exhibits.map(\.name) == ["a", "δ", "a ⊔ δ", "m(a)"])
  }

  @Test func failureShowsThrownError() throws {
    let failure = failure { _ throws(LawFailure) in
      try checkDelta(samples: [VectorClock()]) { _ in
        throw FaultyValue.Refused()
      }
    }
    #expect(failure?.law == .accepted)
    #expect(failure?.exhibits.map(\.text) == ["Refused()"])
  }

  @Test(
    arguments: [
      (.equalityByArrival, .canonical), (.hashByArrival, .hashing),
      (.oneSidedEquality, .equality),
    ] as [(FaultyList.Fault, LatticeLaw)])
  func faultyEqualityBreaksLaws(
    _ fault: FaultyList.Fault, _ law: LatticeLaw
  ) {
    let both = list(fault, seed: 1).merging(list(fault, seed: 2))
    let samples = [list(fault, seed: 1), list(fault, seed: 2), both]
    let failure = failure { _ throws(LawFailure) in
      try checkEquality(samples: samples)
    }
    #expect(failure?.law == law)
  }
}
