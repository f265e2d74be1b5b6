// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The figures of one strategy in the episodes of one repository.
package struct Sample: Hashable, Sendable {
  var score = Score()
  var reversed = Score()
  var agreement = Agreement()

  mutating func add(_ verdict: EpisodeVerdict, _ agreement: Agreement) {
    score.add(verdict.losses)
    if let losses = verdict.reversed { reversed.add(losses) }
    self.agreement += agreement
  }
}

/// A figure that is a share of a total.
package enum Figure: String, Hashable, Sendable, CaseIterable {
  /// The share of records with a loss.
  case lossyRecords
  /// The share of records with a loss if the order of arrival is reversed.
  case lossyRecordsReversed
  /// The share of field changes that are lost.
  case lostChanges
  /// The share of changed fields that end as people resolved them.
  case asPeople

  func share(of sample: Sample) -> (part: Int, whole: Int) {
    switch self {
    case .lossyRecords: (sample.score.lossy, sample.score.episodes)
    case .lossyRecordsReversed:
      (sample.reversed.lossy, sample.reversed.episodes)
    case .lostChanges: (sample.score.losses.lost, sample.score.losses.changes)
    case .asPeople:
      (sample.agreement.all.equalFields, sample.agreement.all.fields)
    }
  }
}

/// The uncertainty of a figure on records from several repositories.
package struct Spread: Hashable, Sendable {
  /// The bounds of the 95 % interval, from 0 to 1.
  package let low: Double, high: Double
  /// The minimum and maximum of the share with one repository left out.
  package let least: Double, greatest: Double
  /// The mean of the repositories' shares, where each repository has the same
  /// weight.
  package let mean: Double
}

extension Spread {
  /// The minimum number of repositories for a useful interval.
  private static let leastRepositories = 5
  /// The number of draws with replacement.
  private static let draws = 2000

  /// Computes the spread of a figure, or of the difference of two strategies.
  ///
  /// Repositories are drawn with replacement (Efron, *Bootstrap methods*,
  /// 1979), because the records of one repository resemble each other. The
  /// draws are the same for every figure. The value is `nil` for fewer than
  /// five repositories, or without records.
  ///
  /// - Parameter other: The strategy whose share is subtracted, or `nil` to
  ///   subtract nothing.
  package init?(
    _ figure: Figure, of result: StrategyResult,
    minus other: StrategyResult? = nil
  ) {
    let names = result.repositories.keys.sorted()
    guard names.count >= Self.leastRepositories else { return nil }
    func shares(_ result: StrategyResult) -> [(part: Int, whole: Int)] {
      names.map { figure.share(of: result.repositories[$0] ?? Sample()) }
    }
    let (mine, others) = (shares(result), other.map(shares))
    func ratio(_ shares: [(part: Int, whole: Int)], _ chosen: [Int]) -> Double {
      let whole = chosen.reduce(0) { $0 + shares[$1].whole }
      let part = chosen.reduce(0) { $0 + shares[$1].part }
      return whole == 0 ? 0 : Double(part) / Double(whole)
    }
    func value(_ chosen: [Int]) -> Double {
      ratio(mine, chosen) - (others.map { ratio($0, chosen) } ?? 0)
    }
    guard mine.contains(where: { $0.whole > 0 }) else { return nil }
    var random = SeededRandom(seed: 1)
    let drawn = (0..<Self.draws).map { _ in
      value(names.indices.map { _ in random.number(below: names.count) })
    }.sorted()
    (low, high) = (drawn[Self.draws / 40], drawn[Self.draws - Self.draws / 40])
    let without = names.indices.map { left in
      value(names.indices.filter { $0 != left })
    }
    (least, greatest) = (without.min() ?? 0, without.max() ?? 0)
    let present = names.indices.filter { mine[$0].whole > 0 }
    mean = present.reduce(0) { $0 + value([$1]) } / Double(present.count)
  }
}
