// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A closure that changes a value on a device and returns the delta of the
/// change.
///
/// If no smaller delta exists, the closure can return the whole value. All of
/// its random choices must come from the given generator.
public typealias RandomChange<State> = (
  inout State, DeviceID, inout SeededRandom
) throws -> State

/// The run of a script, with every value and every change.
struct LatticeRun<State: Lattice> {
  /// A value with the changes that it contains.
  struct Reached {
    var state: State
    var history: Set<Int>

    mutating func merge(_ other: Reached) {
      state.merge(other.state)
      history.formUnion(other.history)
    }
  }

  struct Change {
    let before: State
    let delta: State
    let after: State
  }

  let initial: State
  private(set) var replicas: [Reached]
  private(set) var reached: [Reached]
  private(set) var changes: [Change] = []
  private(set) var refusal: (any Error)?
  private var deltas: [Int: Reached] = [:]
  private var played: [(step: LatticeScript.Step, result: State)] = []

  init(
    _ script: LatticeScript, from initial: State, change: RandomChange<State>
  ) {
    self.initial = initial
    let start = Reached(state: initial, history: [])
    replicas = LatticeScript.devices.map { _ in start }
    reached = [start]
    for step in script.steps where refusal == nil {
      if let here = play(step, change) {
        reached.append(replicas[here])
        played.append((step, replicas[here].state))
      }
    }
  }

  /// Plays a step and returns the replica that took it, or `nil` if the step
  /// isn't possible.
  private mutating func play(
    _ step: LatticeScript.Step, _ change: RandomChange<State>
  ) -> Int? {
    switch step {
    case .merge(let there, let here):
      replicas[here].merge(replicas[there])
      return here
    case .deliver(let number, let here):
      guard let delta = deltas[number] else { return nil }
      replicas[here].merge(delta)
      return here
    case .change(let number, let here, let seed):
      make(number, on: here, seed, change)
      return here
    }
  }

  private mutating func make(
    _ number: Int, on here: Int, _ seed: UInt64, _ change: RandomChange<State>
  ) {
    var random = SeededRandom(seed: seed)
    let before = replicas[here].state
    do {
      let delta = try change(
        &replicas[here].state, LatticeScript.devices[here], &random)
      replicas[here].history.insert(number)
      deltas[number] = Reached(state: delta, history: [number])
      reached.append(Reached(state: delta, history: [number]))
      changes.append(
        Change(before: before, delta: delta, after: replicas[here].state))
    } catch {
      refusal = error
    }
  }
}

extension LatticeRun {
  /// Descriptions of the steps and their results.
  var story: [String] {
    let names = LatticeScript.devices
    let numbers = played.enumerated().reduce(into: [Int: Int]()) {
      if case .change(let number, _, _) = $1.element.step {
        $0[number] = $1.offset + 1
      }
    }
    return played.enumerated().map { i, play in
      let (step, state) = play
      var result = ValueText.of(state)
      if let refusal, i == played.count - 1 { result = "throws \(refusal)" }
      return switch step {
      case .change(_, let here, _): "\(names[here]) changes: \(result)"
      case .merge(let there, let here):
        "\(names[here]) merges \(names[there]): \(result)"
      case .deliver(let number, let here):
        "\(names[here]) merges the delta of step \(numbers[number] ?? 0): "
          + "\(result)"
      }
    }
  }
}
