// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Generates offline episodes: the same seed gives the same episodes, if a seed
/// gives the same random numbers.
public struct Workload: Hashable, Sendable {
  /// The seed of the random numbers.
  public var seed: UInt64 = 1
  /// How many episodes there are.
  public var episodes = 1000
  /// How many devices edit in each.
  public var devices = 3
  /// How many edits each device makes.
  public var editsPerDevice = 4
  /// How far a device's clock may be off, in milliseconds, either way.
  public var skew: Int64 = 60_000
  /// How many fields the record has.
  public var fields = 6
  /// The share of fields that are counters.
  public var counters = 0.25
  /// The share of fields that are sets.
  public var sets = 0.25
  /// The share of edits that delete the record.
  public var deletions = 0.02
  /// The share of edits that clear a field.
  public var clears = 0.05

  /// Creates the default workload.
  public init() {}

  /// The episodes.
  ///
  /// - Parameter random: The random numbers that a seed determines.
  public func generate<Source: RandomNumberGenerator>(
    using random: (_ seed: UInt64) -> Source
  ) -> [Episode] {
    (0..<episodes).map { place in
      var source = random(seed)
      let mixed = source.next() &+ UInt64(place)
      var writer = EpisodeWriter(self, random(mixed))
      return writer.episode("generated-\(place + 1)")
    }
  }
}
