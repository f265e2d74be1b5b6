// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The state of a route, and the saves that it did not show yet.
///
///     for await statuses in engine.statuses {
///       isSafe = statuses.allSatisfy(\.isUploaded)
///     }
///
/// After a launch, the values follow from the last answer that an earlier launch
/// received, so they are right without a network.
public struct SyncStatus: Sendable {
  /// The activity of a route.
  public enum State: Hashable, Sendable {
    /// The route waits for a save or for the app.
    case idle
    /// A pass asks the route.
    case syncing
    /// The route waits after an error until a time in milliseconds since 1970.
    ///
    /// Only an engine that was started then tries again by itself.
    case waiting(until: Int64)
    /// The route waits until the app calls ``SyncEngine/resume(_:)``, or until the
    /// next launch.
    case needsDecision
    /// The app stopped the engine, or the store was closed, deleted or superseded.
    case stopped
  }

  /// The name of the route.
  public let route: String
  /// The activity of the route.
  public let state: State
  /// The error of the last pass, or `nil`.
  public let error: (any Error)?
  /// The reason why the peer refused saves, or `nil`.
  ///
  /// The route receives saves anyway. It sends saves again after the next local save,
  /// after ``SyncEngine/resume(_:)`` and at the next launch.
  public let uploadRefusal: SyncRefusal?
  /// The number of saves of the store, of all devices, that the route did not show.
  ///
  /// A storage of objects shows the saves that it has in objects. If it does not confirm
  /// writes, such as a drive, these are the objects in this device's folder, which the
  /// drive may upload later.
  public let unsentSaves: Int
  /// Whether the saves are uploaded, and the store has all saves that the route showed
  /// last.
  ///
  /// While other devices save, the value is rarely `true`. To tell users that their
  /// work is safe, use ``isUploaded``.
  public let isSynced: Bool
  /// The time of the last pass without an error, in milliseconds since 1970, or `nil`.
  ///
  /// After a launch, it is the time of the last pass with a new answer, because an
  /// idle pass writes nothing.
  public let lastSynced: Int64?

  /// Creates a status, for previews and tests of an app.
  public init(
    route: String, state: State, error: (any Error)? = nil,
    uploadRefusal: SyncRefusal? = nil, unsentSaves: Int = 0,
    isSynced: Bool = false, lastSynced: Int64? = nil
  ) {
    (self.route, self.state, self.error) = (route, state, error)
    (self.uploadRefusal, self.unsentSaves) = (uploadRefusal, unsentSaves)
    (self.isSynced, self.lastSynced) = (isSynced, lastSynced)
  }

  /// Whether the route showed all saves of the store.
  ///
  /// If the route leads to a storage that does not confirm writes, the saves are in this
  /// device's folder, and may not have left the device. See
  /// ``ObjectStorage/confirmsWrites``.
  public var isUploaded: Bool { unsentSaves == 0 }

  /// The problem and its remedy as sentences, or `nil` without one.
  ///
  /// The text is in English and for the people who build the app. For users, translate
  /// ``error`` and ``uploadRefusal``.
  public var problem: String? {
    if let error {
      if RouteSchedule.isOfLibrary(error) { return "\(error)" }
      return
        "The route \"\(route)\" failed (\(error)). Check the connection. The "
        + "engine tries again."
    }
    return uploadRefusal.map { "The peer refused saves. \($0)" }
  }

  /// Returns whether two statuses look the same to an app.
  func equals(_ other: SyncStatus) -> Bool {
    route == other.route && state.equals(other.state)
      && unsentSaves == other.unsentSaves && isSynced == other.isSynced
      && lastSynced == other.lastSynced && uploadRefusal == other.uploadRefusal
      && problem == other.problem
  }
}

extension SyncStatus.State {
  /// Returns whether two states look the same to an app.
  ///
  /// The end of a wait follows from two clocks, which drift.
  fileprivate func equals(_ other: SyncStatus.State) -> Bool {
    if case .waiting(let end) = self, case .waiting(let otherEnd) = other {
      return (end &- otherEnd).magnitude < 1_000
    }
    return self == other
  }
}

extension ReplicaVersion {
  /// Returns the number of saves that another version lacks.
  ///
  /// - Returns: At least 1 if the histories of a device differ.
  package func saveCount(beyond other: ReplicaVersion?) -> Int {
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
