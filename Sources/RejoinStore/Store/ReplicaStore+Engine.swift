// SPDX-License-Identifier: Apache-2.0

import Rejoin

// The part of a store that its sync engine uses.
extension ReplicaStore {
  /// One element for one or more changes of the version from now on.
  ///
  /// The sequence ends when the store is closed or superseded.
  package nonisolated var versionChanges: AsyncStream<Void> {
    observers.versionChanges()
  }

  /// Returns the version, and whether a save or an import was made here since an
  /// earlier version.
  package func version(
    after earlier: ReplicaVersion
  ) -> (version: ReplicaVersion, hasSaved: Bool) {
    let own = ownDevices
    let hasSaved = version.vectorClock.entries.contains {
      $0.count > earlier.vectorClock[$0.device]
        && ($0.device.isImport || own.contains($0.device))
    }
    return (version, hasSaved)
  }

  /// Returns the value of a note, or `nil` if it is missing or damaged.
  package func note(_ name: String) -> [UInt8]? { scope.note(name) }

  /// Replaces the value of a note, which may be lost.
  package func setNote(_ name: String, to value: [UInt8]) throws(StoreError) {
    try scope.setNote(name, to: value)
  }
}

/// The engine that syncs a store, or none.
package final class EngineSlot: Sendable {
  private struct State {
    weak var engine: AnyObject?
  }

  private let state = Locked(State())

  /// Returns whether no other engine has the store, and gives it to `engine`.
  package func take(for engine: AnyObject) -> Bool {
    state.withLock { state in
      guard state.engine == nil || state.engine === engine else { return false }
      state.engine = engine
      return true
    }
  }

  /// Lets another engine have the store.
  package func release(from engine: AnyObject) {
    state.withLock { if $0.engine === engine { $0.engine = nil } }
  }
}
