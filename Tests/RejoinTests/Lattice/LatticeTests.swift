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

/// What a user of the library composes.
private struct Card: Lattice, Hashable {
  var name = MVRegister<String>()
  var likes = PNCounter()
  var tags = ORSet<String>()

  mutating func merge(_ other: Card) {
    name.merge(other.name)
    likes.merge(other.likes)
    tags.merge(other.tags)
  }
}

private let profile = LawSubject(initial: Card()) { state, device, random in
  var delta = Card()
  switch random.below(3) {
  case 0:
    delta.name = LawSubjects.mvRegister.change(&state.name, device, &random)
  case 1:
    delta.likes = LawSubjects.counter.change(&state.likes, device, &random)
  default: delta.tags = LawSubjects.set.change(&state.tags, device, &random)
  }
  return delta
}

@Suite struct LatticeTests {
  private func check<State>(_ subject: LawSubject<State>) {
    let result = LatticeLaws.check(subject, seeds: 0..<120)
    #expect(
      result.violations.isEmpty, "\(State.self): \(result.violations.prefix(3))"
    )
    #expect(result.cases > 1500)
  }

  @Test func vectorClock() { check(LawSubjects.vectorClock) }
  @Test func causalContext() { check(LawSubjects.causalContext) }
  @Test func replicaClock() { check(LawSubjects.replicaClock) }
  @Test func lwwRegister() { check(LawSubjects.lwwRegister) }
  @Test func mvRegister() { check(LawSubjects.mvRegister) }
  @Test func observedMVRegister() { check(LawSubjects.observedMVRegister) }
  @Test func counter() { check(LawSubjects.counter) }
  @Test func set() { check(LawSubjects.set) }
  @Test func removeWinsSet() { check(LawSubjects.removeWinsSet) }
  @Test func ledger() { check(LawSubjects.ledger) }
  @Test func composition() { check(profile) }
}
