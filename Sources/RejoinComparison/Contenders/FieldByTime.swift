// SPDX-License-Identifier: Apache-2.0

/// Last write wins for each field, by the latest wall-clock time.
///
/// The record's existence is another field.
struct FieldByTime: Contender {
  let name = "fieldByTime"
  let rule =
    "in every field, the latest wall-clock time wins; closest to sqlite-data"
  let source = Source.model("SQLiteData, CloudKit sync")

  func outcome(of episode: Episode) -> Outcome {
    var record = episode.base ?? [:]
    var times: [String: Int64] = [:]
    var existence = (exists: episode.base != nil, at: Int64.min)
    for upload in episode.uploads {
      let at = upload.edit.at
      if at >= existence.at { existence = (upload.after != nil, at) }
      for (field, content) in upload.changes
      where at >= times[field] ?? .min {
        times[field] = at
        record[field] = content
      }
    }
    return Outcome(everywhere: existence.exists ? record : nil)
  }
}
