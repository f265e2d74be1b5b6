// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// An operation of a device, and the operations that it had seen.
struct Deed<Act> {
  /// The index in the history, which is greater than that of seen operations.
  let number: Int
  let device: DeviceID
  let act: Act
  let seen: Set<Int>
}

/// The operations that a replica knows.
///
/// An oracle derives the expected content of a replica from these deeds,
/// without a join.
struct Known<Act> {
  let deeds: [Deed<Act>]

  /// Returns the selected deeds that no other selected deed had seen.
  func unseen(_ counts: (Deed<Act>) -> Bool) -> [Deed<Act>] {
    let counted = deeds.filter(counts)
    return counted.filter { deed in
      !counted.contains { $0.seen.contains(deed.number) }
    }
  }
}

/// Plays random scripts and compares the replica with the oracle after each
/// step.
struct SeenHistory<State: Lattice, Act> {
  /// The random changes of a test, and its oracle.
  struct Rules {
    var initial: State
    /// Changes the state and returns the operation with its delta.
    var act:
      (inout State, DeviceID, Known<Act>, inout SeededRandom) throws
        -> (Act, State)
    /// The difference from the oracle, or `nil` if the state is as expected.
    var complaint: (State, Known<Act>) -> String?
  }

  private let rules: Rules
  private var random: SeededRandom
  private var states: [State]
  private var known: [Set<Int>]
  private var deeds: [Deed<Act>] = []
  private var deltas: [State] = []

  private init(_ rules: Rules, seed: UInt64) {
    self.rules = rules
    random = SeededRandom(seed: seed)
    states = Array(repeating: rules.initial, count: 4)
    known = Array(repeating: [], count: 4)
  }

  /// Plays one script for each seed and returns the complaints.
  static func complaints(_ rules: Rules, seeds: Range<UInt64>) -> [String] {
    seeds.compactMap { seed in
      var run = SeenHistory(rules, seed: seed)
      for step in 0..<30 {
        do {
          guard let complaint = try run.step() else { continue }
          return "seed \(seed), step \(step): \(complaint)"
        } catch { return "seed \(seed), step \(step): throws \(error)" }
      }
      return nil
    }
  }

  private mutating func step() throws -> String? {
    let here = random.number(below: states.count)
    switch random.number(below: 5) {
    case 0: join(here, with: random.number(below: states.count))
    case 1, 2: deliver(to: here)
    default: try act(here)
    }
    return rules.complaint(states[here], knowledge(here))
  }

  private func knowledge(_ here: Int) -> Known<Act> {
    Known(deeds: known[here].sorted().map { deeds[$0] })
  }

  private mutating func act(_ here: Int) throws {
    let device = DeviceID(UInt64(here + 1))
    let (act, delta) = try rules.act(
      &states[here], device, knowledge(here), &random)
    let deed = Deed(
      number: deeds.count, device: device, act: act, seen: known[here])
    known[here].insert(deed.number)
    deeds.append(deed)
    deltas.append(delta)
  }

  private mutating func join(_ here: Int, with there: Int) {
    states[here].merge(states[there])
    known[here].formUnion(known[there])
  }

  /// Joins a delta whose causes the replica knows, possibly again.
  private mutating func deliver(to here: Int) {
    let ready = deeds.filter { $0.seen.isSubset(of: known[here]) }
    guard !ready.isEmpty else { return }
    let deed = random.pick(ready)
    states[here].merge(deltas[deed.number])
    known[here].insert(deed.number)
  }
}
