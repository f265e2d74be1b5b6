// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// A generator of offline episodes with a seed.
///
/// Equal workloads generate equal episodes.
public struct Workload: Hashable, Sendable {
  /// The seed of the random numbers.
  public var seed: UInt64 = 1
  /// The number of episodes.
  public var episodes = 1000
  /// The number of devices in each episode.
  public var devices = 3
  /// The number of edits that each device makes.
  public var editsPerDevice = 4
  /// The maximum error of a device's clock, fast or slow, in milliseconds.
  public var skew: Int64 = 60_000
  /// The number of fields of the record.
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
  /// The share of edits that also change one field shared by all devices, from
  /// 0 to 1.
  public var contention = 0.0
  /// The share of records that a device deleted before the episode, which all
  /// devices know, from 0 to 1.
  public var deleted = 0.0
  /// The share of devices that send their edits again at the end, from 0 to 1.
  public var repeats = 0.0
  /// The step of the devices' clocks, in milliseconds.
  ///
  /// With long steps, edits of different devices have equal times.
  public var tick: Int64 = 1
  /// The number of edits that each device makes between syncs.
  ///
  /// If it is zero, the devices sync only at the end.
  public var contact = 0

  /// Creates the workload ``hostile``.
  public init() {}

  /// A workload that resembles daily use: two devices change one or two of
  /// twenty fields.
  public static var calm: Workload {
    var workload = Workload()
    (workload.devices, workload.editsPerDevice, workload.fields) = (2, 1, 20)
    (workload.counters, workload.sets) = (0.1, 0.1)
    (workload.deletions, workload.clears) = (0.01, 0.02)
    return workload
  }

  /// A workload that resembles a traveling team, which syncs after every second
  /// edit.
  public static var busy: Workload {
    var workload = Workload()
    (workload.fields, workload.counters, workload.sets) = (12, 0.25, 0.15)
    (workload.deletions, workload.contact) = (0.05, 2)
    return workload
  }

  /// A workload that checks features and does not measure a rate of loss.
  ///
  /// Three devices change six fields, most of them counters and sets, and sync
  /// only at the end.
  public static var hostile: Workload { Workload() }

  /// A workload with situations from users' reports about other systems.
  ///
  /// Times are often equal, records are inserted after a deletion by the same
  /// or by another device, and edits arrive again. It checks a program and does
  /// not measure a rate of loss.
  public static var reported: Workload {
    var workload = Workload()
    (workload.editsPerDevice, workload.fields) = (2, 3)
    (workload.counters, workload.sets) = (0.34, 0.33)
    (workload.deletions, workload.clears) = (0.25, 0)
    workload.deleted = 0.3
    (workload.contention, workload.repeats) = (0.4, 0.3)
    workload.tick = 60_000
    return workload
  }

  /// Generates the episodes, named `generated-1`, `generated-2` and so on.
  ///
  /// If devices sync before the end, an episode has parts, named
  /// `generated-1.1` and so on. Every device starts a part with the same
  /// record, which is that of the previous part after all edits in the order of
  /// their times.
  public func generate() -> [Episode] {
    (0..<episodes).flatMap { index in
      // Each episode has its own seed, so it does not depend on the number of
      // episodes.
      var source = SeededRandom(seed: seed)
      let mixed = source.next() &+ UInt64(index)
      var writer = EpisodeWriter(self, SeededRandom(seed: mixed))
      return writer.episodes("generated-\(index + 1)")
    }
  }
}
