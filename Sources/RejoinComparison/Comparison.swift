// SPDX-License-Identifier: Apache-2.0

/// Runs strategies on the same episodes and counts what each strategy loses.
public struct Comparison: Sendable {
  /// The strategies, in the order of the table.
  public let strategies: [any Contender]

  /// Creates a comparison of the given strategies.
  public init(_ strategies: [any Contender] = Strategies.all) {
    self.strategies = strategies
  }

  /// Runs every strategy on every episode.
  ///
  /// - Parameters:
  ///   - episodes: The episodes, in any order.
  ///   - progress: Called with the number of episodes done.
  /// - Returns: The losses of each strategy.
  /// - Throws: The errors of the strategies. Those in ``Strategies/all`` throw
  ///   none.
  public func run(
    _ episodes: [Episode], progress: (Int) -> Void = { _ in }
  ) throws -> ComparisonResult {
    var results = strategies.map {
      StrategyResult(name: $0.name, rule: $0.rule)
    }
    for (place, episode) in episodes.enumerated() {
      let oracle = Oracle(episode)
      let strict = Oracle(episode, deletion: .deleteWins)
      for index in strategies.indices {
        let outcome = try strategies[index].outcome(of: episode)
        results[index].count(
          outcome, of: episode,
          oracle.verdict(on: outcome).losses,
          ifDeletionsWin: strict.verdict(on: outcome).losses)
      }
      progress(place + 1)
    }
    return ComparisonResult(episodes: episodes.count, strategies: results)
  }
}

/// The result of a comparison.
public struct ComparisonResult: Sendable {
  /// The number of episodes.
  public let episodes: Int
  /// The results, in the order of the table.
  public let strategies: [StrategyResult]
}

/// The result of one strategy over many episodes.
public struct StrategyResult: Sendable {
  /// The name of the strategy.
  public let name: String
  /// The rule by which it merges, in one sentence.
  public let rule: String
  /// The number of episodes it ran on.
  public private(set) var episodes = 0
  /// The number of episodes in which it lost nothing.
  public private(set) var lossless = 0
  /// The number of episodes in which it lost nothing, if a deletion wins over
  /// concurrent edits.
  public private(set) var losslessIfDeletionsWin = 0
  /// How many episodes clear no field, reset no counter and delete no record, and
  /// in how many of them it lost nothing.
  package private(set) var plain = (episodes: 0, lossless: 0)
  /// The sum of its losses.
  public private(set) var losses = Losses()
  /// How often it ended with the resolution that people chose.
  package private(set) var agreement = Agreement()
  /// The same by the groups of the episodes.
  package private(set) var groups: [String: Agreement] = [:]
  /// The same by the repositories that the episodes come from.
  package private(set) var repositories: [String: Agreement] = [:]

  init(name: String, rule: String) { (self.name, self.rule) = (name, rule) }

  mutating func count(
    _ outcome: Outcome, of episode: Episode, _ losses: Losses,
    ifDeletionsWin strict: Losses
  ) {
    episodes += 1
    lossless += losses.isZero ? 1 : 0
    losslessIfDeletionsWin += strict.isZero ? 1 : 0
    if episode.isPlain {
      plain.episodes += 1
      plain.lossless += losses.isZero ? 1 : 0
    }
    self.losses += losses
    agreement.count(outcome, of: episode)
    if let group = episode.group {
      groups[group, default: Agreement()].count(outcome, of: episode)
    }
    if let repository = episode.repository {
      repositories[repository, default: Agreement()]
        .count(outcome, of: episode)
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

  /// The repository in a source of the form `owner/name@commit:path#record`.
  var repository: String? {
    source.flatMap { source in
      source.firstIndex(of: "@").map { String(source[..<$0]) }
    }
  }
}
