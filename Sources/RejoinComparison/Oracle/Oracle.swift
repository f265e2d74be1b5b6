// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Says what an episode should end with, from who had been shown what.
///
/// Each device was shown the base and its own earlier edits, and nothing else.
/// From that alone follows which write replaced which, which removal saw which
/// insertion, and which increments a reset cancelled. There is no clock and no
/// join in here, and nothing about any strategy.
public struct Oracle: Sendable {
  private let registers: [RegisterFacts]
  private let counters: [CounterFacts]
  private let sets: [SetFacts]
  private let shouldExist: Bool

  /// Derives what must be visible at the end of `episode`.
  public init(_ episode: Episode) {
    let histories = episode.histories
    let ends = histories.map(\.isDeleted)
    shouldExist = ends.isEmpty ? episode.base != nil : ends.contains(false)
    let fields = Set((episode.base ?? [:]).keys).union(episode.changedFields)
    let byKind = Dictionary(grouping: fields.sorted(), by: episode.kind)
    let base = episode.base ?? [:]
    counters = (byKind[.counter] ?? []).map {
      CounterFacts($0, base: base[$0], histories)
    }
    sets = (byKind[.set] ?? []).map { SetFacts($0, base: base[$0], histories) }
    registers = (byKind[.register] ?? []).map {
      RegisterFacts($0, base: base[$0], histories)
    }
  }

  /// What the worst-off device lost, field by field.
  ///
  /// Where the devices never agree, each device's state is judged and the worst
  /// count of each kind stands.
  public func verdict(on outcome: Outcome) -> Verdict {
    let states =
      outcome.agrees
      ? Array(outcome.states.prefix(1))
      : outcome.states
    let perState = states.map { losses(in: $0, kept: outcome.kept) }
    var worst = perState.map(Self.sum).reduce(Losses()) { $0.worst($1) }
    worst.neverAgree = outcome.agrees ? 0 : 1
    return Verdict(losses: worst, perState: perState)
  }

  private static func sum(_ losses: [Loss]) -> Losses {
    losses.reduce(into: Losses()) { $0 += $1.count }
  }

  private func losses(
    in state: PlainRecord?, kept: [String: Set<Value?>]
  ) -> [Loss] {
    guard shouldExist else {
      return state == nil ? [] : [.record(shouldExist: false)]
    }
    var losses: [Loss] = state == nil ? [.record(shouldExist: true)] : []
    losses += registers.flatMap {
      $0.losses(in: state, kept: kept[$0.field] ?? [])
    }
    losses += counters.flatMap { $0.losses(in: state) }
    return losses + sets.flatMap { $0.losses(in: state) }
  }
}

/// What an outcome lost.
public struct Verdict: Sendable {
  /// The losses in numbers; of each kind the worst device's.
  public let losses: Losses
  /// The losses one by one, per state of the outcome that was judged.
  public let perState: [[Loss]]
}
