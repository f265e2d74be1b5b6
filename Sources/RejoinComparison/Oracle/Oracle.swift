// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Judges how an episode ends by what each edit had seen.
///
/// Each edit had seen the base and the earlier edits of its own device, and
/// nothing else. This determines which writes supersede which, which insertions
/// a removal had seen, and which increments a reset cancels. The oracle
/// contains no clock and no join, and knows nothing of any strategy.
package struct Oracle: Sendable {
  private let registers: [RegisterFacts]
  private let counters: [CounterFacts]
  private let sets: [SetFacts]
  private let shouldExist: Bool

  /// Derives what must be visible at the end of an episode.
  ///
  /// - Parameters:
  ///   - episode: The episode.
  ///   - deletion: What is due where one device deletes the record and another
  ///     edits it; that is a choice, and no fact.
  package init(_ episode: Episode, deletion: DeletionRule = .updateWins) {
    let histories = episode.histories
    let ends = histories.map(\.isDeleted)
    shouldExist =
      ends.isEmpty
      ? episode.base != nil
      : deletion == .updateWins ? ends.contains(false) : !ends.contains(true)
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

  /// Returns what was lost in an outcome of the episode.
  ///
  /// If the devices end with different records, each record is judged, and the
  /// maximum of each count is taken.
  package func verdict(on outcome: Outcome) -> Verdict {
    let states =
      outcome.agrees
      ? Array(outcome.states.prefix(1))
      : outcome.states
    let perState = states.map { losses(in: $0, of: outcome) }
    var worst = perState.map(Self.sum).reduce(Losses()) { $0.worst($1) }
    worst.neverAgree = outcome.agrees ? 0 : 1
    worst.sumUp()
    return Verdict(losses: worst, perState: perState)
  }

  private static func sum(_ losses: [Loss]) -> Losses {
    losses.reduce(into: Losses()) { $0 += $1.count }
  }

  private func losses(
    in state: PlainRecord?, of outcome: Outcome
  ) -> [Loss] {
    guard shouldExist else {
      return state == nil ? [] : [.record(shouldExist: false)]
    }
    var losses: [Loss] = state == nil ? [.record(shouldExist: true)] : []
    losses += registers.flatMap {
      $0.losses(
        in: state, kept: outcome.kept[$0.field] ?? [],
        reported: outcome.reported[$0.field] ?? [])
    }
    losses += counters.flatMap { $0.losses(in: state) }
    return losses + sets.flatMap { $0.losses(in: state) }
  }
}

/// The losses of one outcome.
package struct Verdict: Sendable {
  /// The number of losses of each kind, on the device with the most of that
  /// kind.
  package let losses: Losses
  /// The losses in each state that was judged: one state if all devices agree,
  /// or else one per device, in the order of ``Outcome/states``.
  package let perState: [[Loss]]
}
