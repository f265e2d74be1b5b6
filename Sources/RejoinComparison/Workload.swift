// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// Generates offline episodes from a seed.
///
/// Equal workloads generate equal episodes.
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
  /// The share of changes to a counter that set it to a number, from 0 to 1.
  public var resets = 0.0
  /// The share of edits that also change one field that is the same for all, from 0
  /// to 1.
  public var contention = 0.0
  /// After how many edits of each the devices hear of each other; zero for not
  /// before the end.
  public var contact = 0

  /// Creates the workload ``hostile``.
  public init() {}

  /// What an app meets daily: two devices change a field or two of twenty.
  public static var calm: Workload {
    var workload = Workload()
    (workload.devices, workload.editsPerDevice, workload.fields) = (2, 1, 20)
    (workload.counters, workload.sets) = (0.1, 0.1)
    (workload.deletions, workload.clears) = (0.01, 0.02)
    return workload
  }

  /// A team on trains, who hear of each other after every second edit.
  public static var busy: Workload {
    var workload = Workload()
    (workload.fields, workload.counters, workload.sets) = (12, 0.25, 0.15)
    (workload.deletions, workload.contact) = (0.05, 2)
    return workload
  }

  /// A check of features, and no rate of loss: three devices change six fields,
  /// most of them counters and sets, and do not hear of each other before the end.
  public static var hostile: Workload { Workload() }

  /// Generates the episodes, named `generated-1`, `generated-2` and so on.
  ///
  /// Where devices hear of each other before the end, an episode has parts, named
  /// `generated-1.1` and so on. In each, all begin with one record: that of the
  /// part before, with all edits in the order of their times.
  ///
  public func generate() -> [Episode] {
    (0..<episodes).flatMap { place in
      // A seed for each episode, so that it does not depend on how many there
      // are.
      var source = SeededRandom(seed: seed)
      let mixed = source.next() &+ UInt64(place)
      var writer = EpisodeWriter(self, SeededRandom(seed: mixed))
      return writer.episodes("generated-\(place + 1)")
    }
  }
}
