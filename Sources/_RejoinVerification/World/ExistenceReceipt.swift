// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The reported effect of a message on the existence of records.
public struct ExistenceReceipt: Equatable, Sendable {
  /// The deletions of a record, and the edits that they met.
  struct Meeting: Equatable {
    var deletions: [Dot] = []
    /// The last edit of each device, if some deletion had not seen it.
    var edits: [Dot] = []
    var exists = false
  }

  var created: Set<RecordID> = []
  var deleted: Set<RecordID> = []
  var meetings: [RecordID: Meeting] = [:]

  /// Returns the report on some records.
  func part(_ isMeant: (RecordID) -> Bool) -> ExistenceReceipt {
    ExistenceReceipt(
      created: created.filter(isMeant), deleted: deleted.filter(isMeant),
      meetings: meetings.filter { isMeant($0.key) })
  }
}

extension MergeReport {
  var existence: ExistenceReceipt {
    ExistenceReceipt(
      created: createdRecords, deleted: deletedRecords,
      meetings: Dictionary(
        uniqueKeysWithValues: deletionConflicts.map {
          (
            $0.record,
            .init(
              deletions: $0.deletions.map(\.dot), edits: $0.edits,
              exists: $0.exists)
          )
        }))
  }
}

extension OracleReplica {
  /// Returns the expected report on some records since an earlier state.
  func existence(
    of records: Set<RecordID>, since before: OracleReplica
  ) -> ExistenceReceipt {
    var receipt = ExistenceReceipt()
    for id in records {
      switch (before.exists(id), exists(id)) {
      case (false, true): receipt.created.insert(id)
      case (true, false): receipt.deleted.insert(id)
      default: break
      }
      if BuiltIn.isBuiltIn(id.entity) { continue }
      receipt.meetings[id] = meeting(of: id, since: before)
    }
    return receipt
  }

  /// Returns the deletions and edits that met since an earlier state, or `nil`
  /// if none met.
  ///
  /// At least one of them was known before.
  private func meeting(
    of id: RecordID, since before: OracleReplica
  ) -> ExistenceReceipt.Meeting? {
    let edits = lastEdits(of: id)
    let earlier = before.lastEdits(of: id)
    // If a deletion supersedes a later touch, an earlier edit becomes the last
    // one.
    let new = edits.filter { edit in
      !earlier.contains {
        $0.device == edit.device && $0.sequence >= edit.sequence
      }
    }
    let known = Set(before.deletions(of: id))
    func unseen(_ edits: [Dot], by deletion: Int) -> [Dot] {
      edits.filter { !isSeen($0, by: deletion, of: id) }
    }
    let deletions = deletions(of: id)
    let hasMet = deletions.contains {
      !unseen(known.contains($0) ? new : earlier, by: $0).isEmpty
    }
    guard hasMet else { return nil }
    let open = edits.filter { edit in
      deletions.contains { !isSeen(edit, by: $0, of: id) }
    }
    if open.isEmpty { return nil }
    return .init(
      deletions: deletions.filter { !unseen(open, by: $0).isEmpty }
        .map { history.saves[$0].dot }.sorted(),
      edits: open, exists: exists(id))
  }
}
