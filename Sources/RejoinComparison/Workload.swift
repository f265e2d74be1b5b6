// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Generates offline episodes from a seed.
///
/// Equal workloads generate equal episodes, if a seed determines the random
/// numbers.
public struct Workload: Hashable, Sendable {
  /// The seed of the random numbers.
  public var seed: UInt64 = 1
  /// How many episodes there are.
  public var episodes = 1000
  /// How many devices edit in each.
  public var devices = 3
  /// How many edits each device makes.
  public var editsPerDevice = 4
  /// The greatest error of a device's clock in milliseconds, fast or slow.
  public var skew: Int64 = 60_000
  /// How many fields the record has.
  public var fields = 6
  /// The share of fields that are counters, from 0 to 1.
  public var counters = 0.25
  /// The share of fields that are sets, from 0 to 1.
  public var sets = 0.25
  /// The share of edits that delete the record, from 0 to 1.
  public var deletions = 0.02
  /// The share of changes to a field that clear it, from 0 to 1.
  public var clears = 0.05

  /// Creates the default workload.
  public init() {}

  /// Generates the episodes, named `generated-1`, `generated-2` and so on.
  ///
  /// - Parameter random: The random numbers that a seed determines.
  public func generate<Source: RandomNumberGenerator>(
    using random: (_ seed: UInt64) -> Source
  ) -> [Episode] {
    (0..<episodes).map { place in
      // A seed for each episode, so that it does not depend on how many there
      // are.
      var source = random(seed)
      let mixed = source.next() &+ UInt64(place)
      var writer = EpisodeWriter(self, random(mixed))
      return writer.episode("generated-\(place + 1)")
    }
  }
}
