// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A judge of outcomes that knows only which edits each edit had seen.
///
/// Each edit had seen only the base and the earlier edits of its own device.
/// This determines which writes supersede which, which insertions a removal had
/// seen, and which increments a reset cancels. The oracle has no clock and no
/// join and does not depend on any strategy.
package struct Oracle: Sendable {
  private let episode: Episode
  private let deletion: DeletionRule
  private let due: Due

  /// Creates a judge of an episode.
  ///
  /// - Parameters:
  ///   - episode: The episode.
  ///   - deletion: The rule for concurrent deletions and edits, which is a
  ///     choice and not a fact.
  package init(_ episode: Episode, deletion: DeletionRule = .updateWins) {
    (self.episode, self.deletion) = (episode, deletion)
    due = Due(episode, deletion)
  }

  /// Returns the fates of the episode's changes in an outcome.
  ///
  /// If a device is blocked, its changes wait. The other devices are judged by
  /// the edits that arrived.
  package func verdict(on outcome: Outcome) -> Verdict {
    var arrived = due
    if !outcome.waiting.isEmpty {
      var part = episode
      part.edits.removeAll { outcome.waiting.contains($0.device) }
      arrived = Due(part, deletion)
    }
    var verdict = Verdict()
    for (device, state) in outcome.judged(in: episode) {
      let (losses, fates, words) = arrived.verdict(state, outcome)
      verdict.losses = verdict.losses.worst(losses)
      verdict.fates.merge(fates, uniquingKeysWith: max)
      verdict.words.append((device, words))
    }
    for change in due.changes
    where outcome.waiting.contains(change.device) {
      verdict.fates[change] = .waiting
    }
    let fates = Array(verdict.fates.values)
    verdict.losses.changes = fates.count
    verdict.losses.lost = fates.count(where: \.isLoss)
    verdict.losses.reported = fates.count { $0 == .reported }
    verdict.losses.kept = fates.count { $0 == .kept }
    verdict.losses.waiting = fates.count { $0 == .waiting }
    verdict.losses.disagreements = outcome.agrees ? 0 : 1
    return verdict
  }
}

extension Outcome {
  /// Returns the states to judge, each with its device.
  ///
  /// If all devices agree, the result is one state without a device. Otherwise
  /// it contains the state of every device that is not blocked.
  fileprivate func judged(
    in episode: Episode
  ) -> [(device: String?, state: PlainRecord?)] {
    if agrees || states.count == 1 {
      return states.prefix(1).map { (nil, $0) }
    }
    return zip(episode.devices, states).filter { !waiting.contains($0.0) }
      .map { ($0, $1) }
  }
}

/// The state that the final record must show.
private struct Due {
  private let registers: [RegisterFacts]
  private let counters: [CounterFacts]
  private let sets: [SetFacts]
  private let shouldExist: Bool
  /// The fields of the base, and those that edits change.
  private let fields: Set<String>

  init(_ episode: Episode, _ deletion: DeletionRule) {
    let histories = episode.histories
    let ends = histories.map(\.isDeleted)
    shouldExist =
      ends.isEmpty
      ? episode.base != nil
      : deletion == .updateWins ? ends.contains(false) : !ends.contains(true)
    let base = episode.base ?? [:]
    fields = Set(base.keys).union(episode.changedFields)
    let byKind = Dictionary(grouping: fields.sorted(), by: episode.kind)
    counters = (byKind[.counter] ?? []).map {
      CounterFacts($0, base: base[$0], histories)
    }
    sets = (byKind[.set] ?? []).map { SetFacts($0, base: base[$0], histories) }
    registers = (byKind[.register] ?? []).map {
      RegisterFacts($0, base: base[$0], histories)
    }
  }

  /// The changes that can be lost.
  var changes: [OfflineEdit] {
    guard shouldExist else { return [] }
    return registers.flatMap { facts in
      facts.changes.map { OfflineEdit(device: $0.device, field: facts.field) }
    }
      + counters.flatMap { facts in
        facts.changes.map { OfflineEdit(device: $0.device, field: facts.field) }
      }
      + sets.flatMap { facts in
        facts.changes.map { OfflineEdit(device: $0.device, field: facts.field) }
      }
  }

  func verdict(
    _ state: PlainRecord?, _ outcome: Outcome
  ) -> (losses: Losses, fates: [OfflineEdit: Fate], words: [String]) {
    var losses = Losses()
    guard shouldExist else {
      losses.recordsWrong = state == nil ? 0 : 1
      let words = ["the record exists, though it was deleted"]
      return (losses, [:], state == nil ? [] : words)
    }
    var words: [String] = []
    if state == nil {
      losses.recordsWrong = 1
      words = [
        "the record is deleted, though an update had not seen the deletion"
      ]
    }
    var fates: [OfflineEdit: Fate] = [:]
    func add(
      _ field: String, _ judge: (PlainRecord?, Remains) -> FieldVerdict
    ) {
      let verdict = judge(state, Remains(outcome, field, exists: state != nil))
      for (device, fate) in verdict.fates {
        fates[OfflineEdit(device: device, field: field)] = fate
      }
      losses.baseValues += verdict.hasBase ? 1 : 0
      losses.baseValuesLost += verdict.losesBase ? 1 : 0
      losses.excess += verdict.excess
      losses.counterUnits = Int(
        Int64(losses.counterUnits).addingClamped(Int64(verdict.counterUnits)))
      losses.addsLost += verdict.addsLost
      losses.removesUndone += verdict.removesUndone
      words += verdict.words
    }
    for facts in registers { add(facts.field, facts.verdict) }
    for facts in counters { add(facts.field, facts.verdict) }
    for facts in sets { add(facts.field, facts.verdict) }
    // A field that the base does not have and no edit writes must stay unset.
    for (field, content) in (state ?? [:]).visible.sortedByKey
    where !fields.contains(field) {
      losses.invented += 1
      words.append("\(field) shows \(content.short), and must be unset")
    }
    return (losses, fates, words)
  }
}

/// The fates of an episode's changes in one outcome.
package struct Verdict: Sendable {
  /// The maximum of each count over the devices.
  package var losses = Losses()
  /// The worst fate of each change on any device.
  package var fates: [OfflineEdit: Fate] = [:]
  /// The losses in words, for all devices or for each.
  package var words: [(device: String?, words: [String])] = []
}
