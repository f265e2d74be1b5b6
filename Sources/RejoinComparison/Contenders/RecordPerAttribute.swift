// SPDX-License-Identifier: Apache-2.0

/// One record per attribute, each with last write wins by time.
///
/// The article advises to split an entity into small ones. This is the limit of the
/// advice: edits of different attributes never overwrite each other. Splitting it into
/// a few entities is between this row and ``RecordByDeviceTime``. Deleting the
/// record means deleting every attribute that the device knows; an attribute
/// that is updated later comes back alone.
struct RecordPerAttribute: Contender {
  let name = "recordPerAttribute"
  let rule =
    "entities split as far as possible: every attribute is a record, and its "
    + "latest wall-clock time wins"
  let source = Source.article

  func outcome(of episode: Episode) -> Outcome {
    var rows = episode.base ?? [:]
    var times: [String: Int64] = [:]
    var exists = episode.base != nil
    var wasDeleted = false
    for upload in episode.uploads {
      var changes = upload.changes
      if upload.after == nil {
        changes = (upload.before ?? [:]).mapValues { _ -> Content? in nil }
      }
      for (field, content) in changes
      where upload.edit.at >= times[field] ?? .min {
        times[field] = upload.edit.at
        rows[field] = content
      }
      exists = exists || upload.after != nil
      wasDeleted = wasDeleted || upload.after == nil
    }
    let isThere = wasDeleted ? !rows.isEmpty : exists
    return Outcome(everywhere: isThere ? rows : nil)
  }
}
