// SPDX-License-Identifier: Apache-2.0

/// One record per attribute, where the last write wins by time.
///
/// The article recommends splitting an entity into small entities, and this
/// strategy takes the advice to its limit: edits of different attributes never
/// overwrite each other. Splitting the entity into a few entities is between
/// this strategy and ``RecordByDeviceTime``. To delete the record, a device
/// deletes every attribute that it knows. If an attribute is updated later,
/// only that attribute returns.
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
