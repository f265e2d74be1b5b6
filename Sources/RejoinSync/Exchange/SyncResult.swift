// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The result of `ReplicaStore.sync(scope:asking:)`.
public struct SyncResult: Sendable {
  /// The version that the peer showed last.
  ///
  /// Pass it as `assuming` to the next call, which then needs one exchange less to
  /// send a save.
  public let peerVersion: ReplicaVersion
  /// Whether the peer showed that it has all saves of the store.
  public let isUploaded: Bool
  /// Whether the saves are uploaded, and the store has all saves that the peer
  /// showed.
  public let isSynced: Bool
  /// The reason why the peer refused a part of the store, or `nil`.
  ///
  /// The download continued.
  public let uploadRefusal: SyncRefusal?
  /// The faults that the store found.
  public let report: MergeReport
}
