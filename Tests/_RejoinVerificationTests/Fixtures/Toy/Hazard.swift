// SPDX-License-Identifier: Apache-2.0

/// A mistake that designs of replication make.
///
/// A ``ToyReplica`` makes one of them, or none.
enum Hazard: String, CaseIterable, Sendable {
  /// Writes are compared by what their authors had heard of, then by the wall
  /// clock, then by device: an order with cycles.
  case clockThenTimeThenDevice
  /// A write is stamped with the wall clock, whatever its author has seen.
  case wallClockStamps
  /// The clock that stamps writes never learns of other devices' times.
  case deafClock
  /// Of two writes at the same time the one that came first is shown.
  case tiesByArrival
  /// A merge drops the siblings that are not shown.
  case losingSiblingsPruned
  /// A merge drops what others wrote at the same time as this device.
  case mineWinsOnReceive
  /// An element that both have keeps the dots of both.
  case unionOfDots
  /// What both have not is dropped where a record is dead, and known for ever.
  case payloadDroppedDotsKept
  /// A save that only removes leaves no trace in the clock of the field.
  case removalWithoutDot
  /// A reset adds the negative of what is shown.
  case resetAddsNegative
  /// A message advances the clock although the saves before it are missing.
  case deltaTakenAsReceived
  /// The clocks of fields are taken for saves that are here completely.
  case fieldClockTakenAsReceived
  /// A replica goes on under the device whose message it joined.
  case identityTravels
  /// A restored replica goes on under its old device.
  case restoredKeepsDevice
  /// A context that is refreshed takes what it edits for seen as it is now.
  case refreshAdvancesDirtyBase
  /// Whoever resolves the conflict that was shown resolves those that were not.
  case resolutionSupersedesUnseen
  /// A context writes every field of its record, edited or not.
  case equalFieldsOverwritten
  /// What anybody holds is taken for what everybody holds.
  case globalCut
  /// A purge removes the record with its marks and clocks.
  case tombstonesForgotten
  /// An edit leaves the deletions that its author has seen.
  case editKeepsDeletions
  /// A deletion covers all saves that the replica holds, of any record.
  case deletionCoversReplicaClock
  /// A deletion covers itself and nothing else.
  case deletionCoversItself
  /// A deletion in a context covers saves that the context has not shown.
  case deletionCoversUnseen
  /// A save is covered if all deletions cover it, not if any does.
  case deletionsCoverTogether
  /// A deletion counts as an edit.
  case deletionCountsAsEdit
  /// A purge does not cover the save that drops the contents.
  case purgeCountsAsEdit
  /// A purge counts as a deletion, under delete-wins as well.
  case purgeCountsAsDeletion
  /// A purge drops the contents of a record without an announcement.
  case purgeInOneStep
  /// A device counts as knowing a save although it may have made others before.
  case unsentSavesIgnored
  /// A context saves a part of a record that was purged since.
  case draftRevivesPurged
  /// An edit in a context supersedes deletions that the context has not shown.
  case contextSupersedesUnseenDeletion
  /// An update wins over a deletion, whatever the rule.
  case ruleIgnored
  /// A field forgets the saves of devices that have been silent for an hour.
  case clockEntriesExpire

  /// What replicas that are created now do wrong.
  @TaskLocal static var current: Hazard?
}
