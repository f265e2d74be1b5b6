// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import Rejoin
import RejoinStore
import RejoinSync
import RejoinTesting

@testable import RejoinSync
@testable import _RejoinVerification

/// A device of a ``PlaceTrial``, which meets others in a zone, a folder and a hub.
final class PlaceTrialDevice {
  /// A storage, and what the device remembers of it.
  struct Place {
    var storage: any ObjectStorage
    var memory = ObjectMemory()
    /// Whether the route waits for the app.
    var needsDecision = false
    /// Whether the last pass was refused, so that no pass uploads before the app wants
    /// it.
    var isRefused = false
  }

  let number: Int
  let container: CKContainer
  let store: ReplicaStore
  var zone: Place
  var folder: Place
  private let isShared: Bool

  init(
    _ number: Int, _ store: ReplicaStore, zone: CKContainer, isShared: Bool,
    folder: any ObjectStorage
  ) {
    (self.number, self.store, container) = (number, store, zone)
    self.isShared = isShared
    self.zone = Place(storage: Self.storage(zone, isShared: isShared))
    self.folder = Place(storage: folder)
  }

  private static func storage(
    _ container: CKContainer, isShared: Bool
  ) -> CloudKitStorage {
    CloudKitStorage(
      CKRecordZone.ID(
        zoneName: "list",
        ownerName: isShared ? "anna" : CKCurrentUserDefaultName),
      of: container, isShared: isShared)
  }

  /// Forgets what a process knew.
  func restart() {
    zone.memory = ObjectMemory(note: zone.memory.note)
    folder.memory = ObjectMemory(note: folder.memory.note)
    zone.storage = Self.storage(container, isShared: isShared)
    (zone.needsDecision, folder.needsDecision) = (false, false)
  }
}

/// Something that a trial found.
struct PlaceFault: Error, CustomStringConvertible {
  let description: String
  init(_ text: String) { description = text }
}

/// A note with two sets, as an ``ObjectHistory`` has.
struct PlaceItem: Entity {
  static let entityName = "Item"
  let tags = set("tags", of: String.self)
  let marks = set("marks", of: String.self)
}
