// SPDX-License-Identifier: Apache-2.0

/// A mistake that designs of replication make.
///
/// A ``ToyReplica`` makes one of them, or none.
enum Hazard: String, CaseIterable, Sendable {
  /// Writes are compared by vector clock, then by wall clock, then by device,
  /// which is an order with cycles.
  case clockThenTimeThenDevice
  /// A write has the time of the wall clock, even if its author saw later
  /// writes.
  case wallClockStamps
  /// The clock for writes ignores the times of other devices.
  case deafClock
  /// The first received of two writes with equal times is shown.
  case tiesByArrival
  /// A merge drops the siblings that are not shown.
  case losingSiblingsPruned
  /// A merge drops concurrent writes of other devices.
  case mineWinsOnReceive
  /// An element in both replicas keeps the dots of both.
  case unionOfDots
  /// A merge drops the entries of a deleted record, but keeps their dots.
  case payloadDroppedDotsKept
  /// A save that only removes leaves no trace in the clock of the field.
  case removalWithoutDot
  /// A reset adds the negative of the shown count.
  case resetAddsNegative
  /// A message advances the clock although earlier saves are missing.
  case deltaTakenAsReceived
  /// Saves in the clocks of fields count as completely received.
  case fieldClockTakenAsReceived
  /// A replica continues with the device ID of the sender.
  case identityTravels
  /// A restored replica continues with its old device ID.
  case restoredKeepsDevice
  /// A refreshed context counts the current values of edited fields as seen.
  case refreshAdvancesDirtyBase
  /// The resolution of a shown conflict also resolves unseen siblings.
  case resolutionSupersedesUnseen
  /// A context writes every field of its record, edited or not.
  case equalFieldsOverwritten
  /// Saves that one device holds count as stable.
  case globalCut
  /// A purge removes the record with its marks and clocks.
  case tombstonesForgotten
  /// An edit keeps the deletions that its author saw.
  case editKeepsDeletions
  /// A deletion covers all saves that the replica holds, of any record.
  case deletionCoversReplicaClock
  /// A deletion covers itself and nothing else.
  case deletionCoversItself
  /// A deletion in a context covers saves that the context has not shown.
  case deletionCoversUnseen
  /// A save is covered only if all deletions cover it.
  case deletionsCoverTogether
  /// A deletion counts as an edit.
  case deletionCountsAsEdit
  /// A purge does not cover the save that drops the contents.
  case purgeCountsAsEdit
  /// A purge counts as a deletion, under delete-wins as well.
  case purgeCountsAsDeletion
  /// A purge drops the contents of a record without an announcement.
  case purgeInOneStep
  /// A save counts as known to a device that may have earlier unsent saves.
  case unsentSavesIgnored
  /// A context saves a part of a record that was purged after the fetch.
  case draftRevivesPurged
  /// An edit in a context supersedes deletions that the context has not shown.
  case contextSupersedesUnseenDeletion
  /// An update wins over a deletion, whatever the rule.
  case ruleIgnored
  /// A field forgets the saves of devices without a message for an hour.
  case clockEntriesExpire

  /// The hazard of the replicas that are created now.
  @TaskLocal static var current: Hazard?
}
