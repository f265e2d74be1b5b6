//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

/// Goes through everything that can happen to three replicas within a program.
public struct Explorer<Replica: TestedReplica> {
  let program: ExplorerProgram
  let replicas: ExploredReplicas<Replica>
  let actions: [ExplorerAction]
  var table = ExplorerTable()
  var counts = ExplorerCounts()
  /// The triples and pairs of states in which the laws have been checked.
  var triples = ExplorerMemo()
  var pairs = ExplorerMemo()
  /// What is being tried in the configuration at hand.
  var attempt: ExplorerAction?
  /// What has been done after the configuration at hand.
  var tried: [ScriptStep] = []

  /// Creates an explorer.
  public init(_ program: ExplorerProgram) {
    self.program = program
    replicas = ExploredReplicas(program)
    actions = ExplorerAction.all(program)
  }

  /// Meets every configuration, those with fewer steps first.
  ///
  /// - Parameter limit: How many configurations are met at most.
  /// - Returns: What was done.
  /// - Throws: The first violation, with a script that leads to it.
  public mutating func search(
    atMost limit: Int = .max
  ) throws(ExplorerViolation) -> ExplorerCounts {
    var place = 0
    do throws(ScriptMismatch) {
      let start = ExplorerConfiguration(
        try replicas.empty(0), try replicas.empty(1), try replicas.empty(2))
      _ = table.insert(start, from: 0)
      while place < table.count {
        try expand(place, limit)
        try checkLaws(table[place])
        place += 1
      }
    } catch {
      throw ExplorerViolation(
        mismatch: error, program: program,
        script: script(to: place), counts: total)
    }
    return total
  }

  private var total: ExplorerCounts {
    var total = counts
    total += replicas.counts
    total.configurations = table.count
    total.states = replicas.states.count
    total.messages = replicas.letters.count
    return total
  }

  private mutating func expand(
    _ place: Int, _ limit: Int
  ) throws(ScriptMismatch) {
    let configuration = table[place]
    for action in actions {
      attempt = action
      guard let next = try successor(of: configuration, action) else {
        continue
      }
      counts.transitions &+= 1
      if next == configuration { continue }
      if table.count < limit {
        _ = table.insert(next, from: place)
      } else {
        counts.isComplete = false
      }
    }
    attempt = nil
  }
}

extension Explorer {
  /// What becomes of a configuration; `nil` if the action is not possible.
  mutating func successor(
    of configuration: ExplorerConfiguration, _ action: ExplorerAction
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    switch action {
    case .save(let save, let i, let time):
      if configuration.isMade(save) { return nil }
      let old = configuration.state(i)
      let new = try replicas.saving(save, on: old, at: time)
      return new == old
        ? nil : configuration.replacing(i, by: new).making(save)
    case .sync(let i, let j):
      let letter = try message(from: i, since: j, in: configuration)
      return letter == 0
        ? nil : try deliver(letter, half: nil, to: j, in: configuration)
    case .write(let i, let j):
      let last = program.keptMessages - 1
      if configuration.message(last) != 0 { return nil }
      let letter = try message(from: i, since: j, in: configuration)
      return letter == 0 ? nil : configuration.keeping(letter, in: last)
    case .deliver(let slot, let half, let i):
      let letter = configuration.message(slot)
      return letter == 0
        ? nil : try deliver(letter, half: half, to: i, in: configuration)
    }
  }

  func message(
    from i: Int, since j: Int?, in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) -> Int {
    let clock = j.map { replicas.states[configuration.state($0)].clock } ?? 0
    return try replicas.writing(on: configuration.state(i), since: clock)
  }

  private mutating func deliver(
    _ letter: Int, half: Int?, to i: Int,
    in configuration: ExplorerConfiguration
  ) throws(ScriptMismatch) -> ExplorerConfiguration? {
    var letter = letter
    if let half {
      let halves = try replicas.halves(of: letter)
      letter = half == 0 ? halves.0 : halves.1
      if letter == 0 { return nil }
      counts.split &+= 1
    }
    let (state, isGap) = try replicas.delivering(
      letter, to: configuration.state(i))
    counts.applied &+= 1
    counts.gaps &+= isGap ? 1 : 0
    return configuration.replacing(i, by: state)
  }
}
