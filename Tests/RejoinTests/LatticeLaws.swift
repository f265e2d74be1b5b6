//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// A lattice, and how a random script changes a value of it.
struct LawSubject<State: Lattice & Equatable & Sendable>: Sendable {
  /// The value on which every replica begins.
  var initial: State

  /// Changes a value on a device and returns the delta of the change.
  var change: @Sendable (inout State, DeviceID, inout ScriptRandom) -> State

  /// Tells apart what `==` deliberately does not.
  var identical: @Sendable (State, State) -> Bool = { $0 == $1 }
}

/// A law that did not hold, and the seed of the script that shows it.
struct LawViolation: Hashable, CustomStringConvertible {
  enum Law: String {
    case commutative, associative, idempotent, inflation
    case delta = "delta mutation"
    case absorbed = "a delta is below its change"
    case deltaConvergence = "deltas in any order"
  }

  let law: Law
  let seed: UInt64

  var description: String { "\(law.rawValue), seed \(seed)" }
}

/// Checks the laws of a lattice on states that random scripts reach.
///
/// A script lets three devices change their values, join each other's values
/// and join each other's deltas: late, twice, and in any order.
struct LatticeLaws<State: Lattice & Equatable & Sendable> {
  let subject: LawSubject<State>
  private let seed: UInt64
  private var random: ScriptRandom
  private var replicas: [State]
  private var reached: [State]
  private var deltas: [State] = []
  private(set) var cases = 0
  private(set) var violations: Set<LawViolation> = []

  private init(_ subject: LawSubject<State>, seed: UInt64) {
    self.subject = subject
    self.seed = seed
    random = ScriptRandom(seed: seed)
    replicas = Array(repeating: subject.initial, count: 3)
    reached = [subject.initial]
  }

  /// Runs one script for each seed.
  ///
  /// - Returns: What was violated, and how many cases were tried.
  static func check(
    _ subject: LawSubject<State>, seeds: Range<UInt64>
  ) -> (violations: [LawViolation], cases: Int) {
    var result: (violations: [LawViolation], cases: Int) = ([], 0)
    for seed in seeds {
      var run = LatticeLaws(subject, seed: seed)
      run.play()
      result.violations += run.violations.sorted { "\($0)" < "\($1)" }
      result.cases += run.cases
    }
    return result
  }

  private mutating func play() {
    for _ in 0..<14 { step() }
    for _ in 0..<6 { checkJoin() }
    checkConvergence()
  }

  private mutating func expect(_ holds: Bool, _ law: LawViolation.Law) {
    if !holds { violations.insert(LawViolation(law: law, seed: seed)) }
  }

  private mutating func step() {
    let here = random.below(replicas.count)
    switch random.below(4) {
    case 0: replicas[here].merge(random.pick(replicas))
    case 1:
      if !deltas.isEmpty { replicas[here].merge(random.pick(deltas)) }
    default: change(here)
    }
    reached.append(replicas[here])
  }

  private mutating func change(_ here: Int) {
    let before = replicas[here]
    let device = DeviceID(UInt64(here + 1))
    let delta = subject.change(&replicas[here], device, &random)
    let after = replicas[here]
    cases += 1
    expect(before.merging(after) == after, .inflation)
    expect(before.merging(delta) == after, .delta)
    expect(after.merging(delta) == after, .absorbed)
    deltas.append(delta)
    reached.append(delta)
  }

  private mutating func checkJoin() {
    let (a, b) = (random.pick(reached), random.pick(reached))
    let c = random.pick(reached)
    let same = subject.identical
    cases += 1
    expect(same(a.merging(a), a), .idempotent)
    expect(same(a.merging(b), b.merging(a)), .commutative)
    expect(
      same(a.merging(b).merging(c), a.merging(b.merging(c))), .associative)
    expect(same(a.merging(b).merging(b), a.merging(b)), .idempotent)
  }

  /// Joining all deltas, shuffled and with repetitions, onto any value is
  /// joining all values.
  private mutating func checkConvergence() {
    let whole = replicas.reduce(subject.initial) { $0.merging($1) }
    for start in [subject.initial, random.pick(replicas), random.pick(reached)]
    {
      let repeated = deltas.filter { _ in random.below(3) == 0 }
      let order = (deltas + repeated).shuffled(using: &random)
      let joined = order.reduce(start) { $0.merging($1) }
      cases += 1
      expect(joined == start.merging(whole), .deltaConvergence)
    }
  }
}
