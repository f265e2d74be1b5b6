// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Generates offline episodes from a seed: the same seed, the same episodes.
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
  public func generate() -> [Episode] {
    (0..<episodes).map { place in
      var source = SplitMix64(seed: seed)
      let mixed = source.next() &+ UInt64(place)
      var writer = EpisodeWriter(self, SplitMix64(seed: mixed))
      return writer.episode("generated-\(place + 1)")
    }
  }
}
