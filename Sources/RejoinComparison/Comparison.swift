// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Rejoin

/// A comparison of strategies on the same episodes.
public struct Comparison: Sendable {
  /// The strategies, in the order of the table.
  public let strategies: [any Contender]
  private let triesBothOrders: Bool

  /// Creates a comparison.
  ///
  /// - Parameters:
  ///   - strategies: The strategies, in the order of the table.
  ///   - triesBothOrders: Whether each episode also runs with the order of
  ///     arrival reversed. The default is `false`.
  public init(
    _ strategies: [any Contender] = Strategies.all,
    triesBothOrders: Bool = false
  ) {
    self.strategies = strategies
    self.triesBothOrders = triesBothOrders
  }

  /// Runs every strategy on every episode.
  ///
  /// - Parameters:
  ///   - episodes: The episodes, in any order.
  ///   - progress: A closure that receives the number of finished episodes.
  /// - Returns: The result of each strategy.
  /// - Throws: The errors of the strategies. The strategies in
  ///   ``Strategies/all`` do not throw errors.
  public func run(
    _ episodes: [Episode], progress: (Int) -> Void = { _ in }
  ) throws -> ComparisonResult {
    try run(episodes, progress: progress) { _, _ in }
  }

  /// Runs every strategy on every episode.
  ///
  /// - Parameters:
  ///   - episodes: The episodes, in any order.
  ///   - progress: A closure that receives the number of finished episodes.
  ///   - report: A closure that receives each episode with the verdict on each
  ///     strategy, in the order of the table.
  package func run(
    _ episodes: [Episode], progress: (Int) -> Void = { _ in },
    report: (Episode, [EpisodeVerdict]) throws -> Void
  ) throws -> ComparisonResult {
    var results = strategies.map { StrategyResult($0) }
    for start in stride(from: 0, to: episodes.count, by: Self.batch) {
      let part = Array(
        episodes[start..<min(start + Self.batch, episodes.count)])
      for (episode, verdicts) in zip(part, try judged(part)) {
        for index in strategies.indices {
          results[index].add(verdicts[index], of: episode)
        }
        try report(episode, verdicts)
      }
      progress(start + part.count)
    }
    return ComparisonResult(
      episodes: episodes.count, contention: Contention(episodes),
      strategies: results)
  }
}

extension Comparison {
  /// The maximum number of episodes that are judged before they are counted.
  private static let batch = 64

  /// Returns the verdicts on every strategy, computed on all processors.
  private func judged(
    _ episodes: [Episode]
  ) throws -> [[EpisodeVerdict]] {
    let verdicts = Locked([Int: Result<[EpisodeVerdict], any Error>]())
    DispatchQueue.concurrentPerform(iterations: episodes.count) { index in
      let verdict = Result { try judged(episodes[index]) }
      verdicts.withLock { $0[index] = verdict }
    }
    let all = verdicts.withLock { $0 }
    return try episodes.indices.map { try all[$0]?.get() ?? [] }
  }

  private func judged(_ episode: Episode) throws -> [EpisodeVerdict] {
    let judges = Judges(episode)
    let reversed = triesBothOrders ? Judges(episode.arrivingReversed) : nil
    return try strategies.map { try judges.verdict(on: $0, reversed) }
  }
}

/// The verdicts on one strategy in one episode.
package struct EpisodeVerdict: Sendable {
  /// The name of the strategy.
  package let strategy: String
  /// The ending of the episode.
  package let outcome: Outcome
  /// The losses if an edit wins over a concurrent deletion.
  package let losses: Losses
  /// The losses if a deletion wins over concurrent edits.
  package let ifDeletionsWin: Losses
  /// The losses with the order of arrival reversed, or `nil` if only one order
  /// runs.
  package let reversed: Losses?
  /// The same if a deletion wins over concurrent edits.
  package let reversedIfDeletionsWin: Losses?
}

/// The oracles of an episode, one for each rule for deletions.
private struct Judges {
  let episode: Episode
  let updateWins: Oracle
  let deleteWins: Oracle

  init(_ episode: Episode) {
    self.episode = episode
    updateWins = Oracle(episode)
    deleteWins = Oracle(episode, deletion: .deleteWins)
  }

  func verdict(
    on strategy: any Contender, _ reversed: Judges?
  ) throws -> EpisodeVerdict {
    let outcome = try strategy.outcome(of: episode)
    let other = try reversed.map {
      ($0, try strategy.outcome(of: $0.episode))
    }
    return EpisodeVerdict(
      strategy: strategy.name, outcome: outcome,
      losses: updateWins.verdict(on: outcome).losses,
      ifDeletionsWin: deleteWins.verdict(on: outcome).losses,
      reversed: other.map { $0.updateWins.verdict(on: $1).losses },
      reversedIfDeletionsWin: other.map {
        $0.deleteWins.verdict(on: $1).losses
      })
  }
}

extension Episode {
  /// The episode with the order of arrival reversed.
  package var arrivingReversed: Episode {
    var episode = self
    episode.arrival = devices.reversed() + repeatedArrivals
    return episode
  }
}
