// SPDX-License-Identifier: Apache-2.0

/// The result of a comparison.
public struct ComparisonResult: Sendable {
  /// The number of episodes.
  public let episodes: Int
  /// The counts of contested fields.
  package let contention: Contention
  /// The results, in the order of the table.
  public let strategies: [StrategyResult]
}

/// The counts of fields that one or several devices changed.
package struct Contention: Sendable {
  /// The fields that any device changed, over all episodes.
  package private(set) var touched = 0
  /// The touched fields that several devices changed.
  package private(set) var contested = 0
  /// The contested fields that end with different content on the devices.
  package private(set) var different = 0

  init(_ episodes: [Episode]) {
    for episode in episodes {
      let saves = episode.contextSaves
      for field in episode.changedFields {
        let changing = saves.filter { $0.fields.contains(field) }
        touched += 1
        guard changing.count > 1 else { continue }
        contested += 1
        let contents = Set(changing.map { $0.after?[field]?.visible })
        different += contents.count > 1 ? 1 : 0
      }
    }
  }
}

/// The losses of one strategy over some episodes.
public struct Score: Hashable, Sendable {
  /// The number of episodes.
  public internal(set) var episodes = 0
  /// The number of episodes without a loss.
  public internal(set) var lossless = 0
  /// The sums of the losses.
  public internal(set) var losses = Losses()

  /// The number of episodes with a loss.
  public var lossy: Int { episodes - lossless }

  mutating func add(_ other: Losses) {
    episodes += 1
    lossless += other.isLossless ? 1 : 0
    losses += other
  }
}

/// The result of one strategy over many episodes.
public struct StrategyResult: Sendable {
  /// The name of the strategy.
  public let name: String
  /// The merge rule in one sentence.
  public let rule: String
  /// The source of the rule.
  public let source: String
  /// The losses if an edit wins over a concurrent deletion.
  public private(set) var score = Score()
  /// The losses if a deletion wins over concurrent edits.
  public private(set) var ifDeletionsWin = Score()
  /// The losses in the episodes without cleared fields, reset counters and
  /// deletions.
  public private(set) var plain = Score()
  /// The losses with the order of arrival reversed.
  ///
  /// The score has no episodes if only one order ran.
  public private(set) var reversed = Score()
  /// The agreement with the resolutions that people chose.
  package private(set) var agreement = Agreement()
  /// The same figures for each repository that episodes come from.
  package private(set) var repositories: [String: Sample] = [:]

  init(_ strategy: any Contender) {
    (name, rule) = (strategy.name, strategy.rule)
    source = strategy.source
  }

  /// The sums of the losses if an edit wins over a concurrent deletion.
  public var losses: Losses { score.losses }

  mutating func add(_ verdict: EpisodeVerdict, of episode: Episode) {
    score.add(verdict.losses)
    ifDeletionsWin.add(verdict.ifDeletionsWin)
    if episode.isPlain { plain.add(verdict.losses) }
    if let losses = verdict.reversed { reversed.add(losses) }
    var agreement = Agreement()
    agreement.count(verdict.outcome, of: episode)
    self.agreement += agreement
    if let repository = episode.repository {
      repositories[repository, default: Sample()].add(verdict, agreement)
    }
  }
}

extension Episode {
  /// Whether no edit clears a field, sets a counter or deletes the record.
  var isPlain: Bool {
    edits.allSatisfy { edit in
      !edit.isDeletion && edit.clear.isEmpty
        && edit.set.keys.allSatisfy { kind(of: $0) != .counter }
    }
  }

  /// Whether totals count the episode, which then has the group `merge` or
  /// none.
  package var countsInTotals: Bool { group == nil || group == "merge" }

  /// The repository in a source of the form `owner/name@commit:path#record`.
  var repository: String? {
    source.flatMap { source in
      source.firstIndex(of: "@").map { String(source[..<$0]) }
    }
  }
}
