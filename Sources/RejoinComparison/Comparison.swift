// SPDX-License-Identifier: Apache-2.0

/// Runs strategies on the same episodes and counts what each of them lost.
public struct Comparison: Sendable {
  /// The strategies, in the order of the table.
  public let strategies: [any Contender]

  /// Creates a comparison of `strategies`.
  public init(_ strategies: [any Contender] = Strategies.all) {
    self.strategies = strategies
  }

  /// Runs every strategy on every episode.
  ///
  /// - Parameters:
  ///   - episodes: The episodes, in any order.
  ///   - progress: Called with the number of episodes done.
  /// - Returns: What each strategy lost.
  /// - Throws: What a strategy throws; none that is here does.
  public func run(
    _ episodes: [Episode], progress: (Int) -> Void = { _ in }
  ) throws -> ComparisonResult {
    var results = strategies.map { StrategyResult(name: $0.name) }
    for (place, episode) in episodes.enumerated() {
      let oracle = Oracle(episode)
      for index in strategies.indices {
        let outcome = try strategies[index].outcome(of: episode)
        results[index].count(outcome, of: episode, by: oracle)
      }
      progress(place + 1)
    }
    return ComparisonResult(episodes: episodes.count, strategies: results)
  }
}

/// What a comparison found.
public struct ComparisonResult: Hashable, Sendable {
  /// The number of episodes.
  public let episodes: Int
  /// The results, in the order of the table.
  public let strategies: [StrategyResult]
}

/// What one strategy lost over many episodes.
public struct StrategyResult: Hashable, Sendable {
  /// The name of the strategy.
  public let name: String
  /// The number of episodes it ran on.
  public private(set) var episodes = 0
  /// The number of episodes in which it lost nothing.
  public private(set) var lossless = 0
  /// What it lost.
  public private(set) var losses = Losses()
  /// How often it ended as people decided.
  public private(set) var agreement = Agreement()

  init(name: String) { self.name = name }

  mutating func count(
    _ outcome: Outcome, of episode: Episode, by oracle: Oracle
  ) {
    let losses = oracle.verdict(on: outcome).losses
    episodes += 1
    lossless += losses.isZero ? 1 : 0
    self.losses += losses
    agreement.count(outcome, of: episode)
  }
}
