// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The changes in a report, which must not depend on the form of the message.
private struct ReportedChanges: Hashable {
  let records: Set<RecordID>
  let created: Set<RecordID>
  let deleted: Set<RecordID>
  let fields: Set<FieldLocation>
  let changes: Set<MergeReport.FieldChange>
  let conflicts: Set<MergeReport.WriteConflict>
  let deletionConflicts: Set<MergeReport.DeletionConflict>
  let equivocations: Set<Dot>

  init(_ report: MergeReport) {
    records = report.changedRecords
    (created, deleted) = (report.createdRecords, report.deletedRecords)
    (fields, changes) = (report.changedFields, Set(report.fieldChanges))
    conflicts = Set(report.conflicts)
    deletionConflicts = Set(report.deletionConflicts)
    equivocations = report.equivocations
  }
}

extension TestedLibrary {
  public func checkReports(
    from sender: Self, now: Int64, named name: String
  ) throws(ScriptMismatch) {
    let sender = sender.copy()
    var reports: [MergeReport] = []
    for size in [0, .max] {
      let receiver = copy()
      receiver.hand.now = now
      sender.replica.fragmentSize = size
      guard let delta = sender.replica.delta(since: version) else { return }
      reports.append(
        receiver.replica.apply(delta, reporting: .changesWithValues))
    }
    // A replica can refuse a fragment that it cannot join.
    if reports[0].gaps != reports[1].gaps { return }
    try agree(
      "the report of \(name) on fragments", ReportedChanges(reports[0]),
      ReportedChanges(reports[1]))
  }
}
