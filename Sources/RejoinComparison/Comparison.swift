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

/// The result of a comparison.
public struct ComparisonResult: Hashable, Sendable {
  /// The number of episodes.
  public let episodes: Int
  /// The results, in the order of the table.
  public let strategies: [StrategyResult]
}

/// The result of one strategy over many episodes.
public struct StrategyResult: Hashable, Sendable {
  /// The name of the strategy.
  public let name: String
  /// The number of episodes it ran on.
  public private(set) var episodes = 0
  /// The number of episodes in which it lost nothing.
  public private(set) var lossless = 0
  /// The sum of its losses.
  public private(set) var losses = Losses()
  /// How often it ended with the resolution that people chose.
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
