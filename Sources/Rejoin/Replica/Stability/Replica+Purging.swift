// SPDX-License-Identifier: Apache-2.0

/// A report of a purge.
public struct PurgeReport: Hashable, Sendable {
  /// The dot of the save, or `nil` if no record was announced or dropped.
  public let dot: Dot?
  /// The deleted records that a later purge will drop, in the order of their
  /// IDs.
  ///
  /// They cannot be restored anymore.
  public let announcedRecords: [RecordID]
  /// The deleted records whose contents were dropped, in the order of their
  /// IDs.
  public let droppedRecords: [RecordID]
  /// The devices that hold back the stability cut, each with the time of its
  /// last known save.
  ///
  /// The cut rises when each of them has shown a version that contains the
  /// awaited saves. Retire a device that will not return. If the app records
  /// only the versions of a hub, the hub alone knows which devices it awaits,
  /// and the list contains every other device on the roster.
  public let awaitedDevices: [DeviceID: Timestamp]
}

extension Replica {
  /// Drops the contents of records whose deletion is stable, in two steps.
  ///
  ///     try phone.save { $0.delete(RecordID("Profile", "ada")) }
  ///     try phone.purgeDeletedRecords().announcedRecords  // [Profile/ada]
  ///     try phone.purgeDeletedRecords().droppedRecords    // [Profile/ada]
  ///
  /// The first call after the deletion is stable announces the purge of the
  /// record. When the announcement is stable as well, another call drops the
  /// contents. (In the example, no other device must confirm either step.) Each
  /// call performs both steps, for different records, in one save. The records
  /// stay deleted.
  ///
  /// Until the announcement, each device can restore the record with
  /// ``Transaction/undelete(_:)`` or with an undo of the deletion, and then it
  /// keeps its contents. A device that received the announcement cannot. It also
  /// refuses edits of drafts and contexts from before the deletion, with
  /// ``SaveError/purged(_:)``, because they would bring back a part of the
  /// record. A plain edit creates the record again.
  ///
  /// - Returns: The report, with the devices that hold back the stability cut.
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: O(*r* + *d*), where *r* is the number of records and *d* is
  ///   the number of devices.
  @discardableResult
  public func purgeDeletedRecords() throws(SaveError) -> PurgeReport {
    advanceStability()
    let cut = stabilityCut
    var (announced, dropped) = ([] as [RecordID], [] as [RecordID])
    for record in current.records {
      switch nextPurgeMark(of: record, below: cut) {
      case .purgeAnnouncement: announced.append(record.id)
      case .purge: dropped.append(record.id)
      default: break
      }
    }
    let report = try save { transaction in
      for id in announced { transaction.purge(id, .purgeAnnouncement) }
      for id in dropped { transaction.purge(id, .purge) }
    }
    return PurgeReport(
      dot: report.dot, announcedRecords: announced.sorted(),
      droppedRecords: dropped.sorted(), awaitedDevices: awaitedDevices)
  }

  /// Returns the next mark of a purge, or `nil` if the record has no contents to
  /// drop, or a mark is not stable yet.
  ///
  /// A mark above the cut could be a deletion that other devices have not seen.
  /// An update from such a device would then be concurrent with the purge.
  private func nextPurgeMark(
    of record: RecordState, below cut: VectorClock
  ) -> RecordMark.Kind? {
    guard record.isDead(schema[record.id.entity].deletion),
      record.slots.contains(where: { $0.name != 0 && $0.state.hasContent })
    else { return nil }
    let marks = record.marks
    if marks.nameEveryDeletion(where: cut.contains) { return .purge }
    if marks.nameEveryDeletion() { return nil }
    return marks.allSatisfy { cut.contains($0.dot) } ? .purgeAnnouncement : nil
  }

  /// The devices that hold back the ``stabilityCut``, each with the time of its
  /// last known save.
  ///
  /// While the replica cannot purge a deletion, show the user these devices, or
  /// retire one that will not return. The dictionary is empty if no other device
  /// is on the roster:
  ///
  ///     phone.awaitedDevices  // [:]
  ///
  /// ``PurgeReport/awaitedDevices`` describes when the cut rises.
  ///
  /// - Complexity: O(*d*), where *d* is the number of devices on the roster.
  public var awaitedDevices: [DeviceID: Timestamp] {
    awaitedDevices(counting: [])
  }

  /// Returns the devices that hold back the stability cut of a replica that
  /// lacks records.
  ///
  /// - Parameter others: The devices with saves in records that this replica
  ///   lacks.
  package func awaitedDevices(
    counting others: some Collection<DeviceID>
  ) -> [DeviceID: Timestamp] {
    let (stability, version) = (current.stability, current.version)
    let roster = roster(counting: others).filter { $0 != device }
    let isReached = stability.isReached(
      at: version.stabilityCut, holding: version.vectorClock)
    let devices = isReached ? roster : roster.subtracting(stability.passed)
    return devices.reduce(into: [:]) { $0[$1] = version[$1].time }
  }
}
