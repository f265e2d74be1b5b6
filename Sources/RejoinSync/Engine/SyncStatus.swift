// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a user wants to know about a route.
///
///     for await statuses in engine.statuses {
///       isSafe = statuses.allSatisfy(\.isUploaded)
///     }
///
/// After a launch, the values are those of the last pass, also without a network.
public struct SyncStatus: Sendable {
  /// What a route does.
  public enum State: Hashable, Sendable {
    /// It waits for the next pass.
    case idle
    /// It exchanges saves.
    case syncing
    /// It tries again after an error, at a time in milliseconds since 1970.
    case waiting(until: Int64)
    /// It waits for the app: for `resume(_:)`, or the next launch.
    case needsDecision
    /// The engine was stopped, or the store was closed.
    case stopped
  }

  /// The name of the route.
  public let route: String
  /// What the route does.
  public let state: State
  /// The error of the last pass, or `nil`.
  public let error: (any Error)?
  /// The reason why the peer refused saves, or `nil`.
  public let uploadRefusal: SyncRefusal?
  /// The number of saves of the store, of all devices, that the route has not
  /// shown.
  public let unsentSaves: Int
  /// Whether the store has all saves that the route showed, and the route all of
  /// the store.
  public let isSynced: Bool
  /// The time of the last pass without an error, in milliseconds since 1970, or
  /// `nil`.
  public let lastSynced: Int64?

  /// Whether the route showed that it has all saves of the store.
  public var isUploaded: Bool { unsentSaves == 0 }
}

extension ReplicaVersion {
  /// Returns the number of saves that another version lacks.
  ///
  /// - Returns: At least 1 if the histories of a device differ.
  func saveCount(beyond other: ReplicaVersion?) -> Int {
    let other = other ?? ReplicaVersion()
    if other.covers(self) { return 0 }
    let missing = vectorClock.entries.reduce(0) { count, entry in
      let known = other.vectorClock[entry.device]
      let (sum, isTooLarge) = count.addingReportingOverflow(
        Int(clamping: entry.count > known ? entry.count - known : 0))
      return isTooLarge ? .max : sum
    }
    return max(missing, 1)
  }
}
