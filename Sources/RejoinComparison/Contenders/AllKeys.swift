// SPDX-License-Identifier: Apache-2.0

/// Last arrival wins, like CloudKit's `allKeys`.
///
/// The client's keys replace the server's, and keys that only the server has
/// stay. If the edit unsets a field, the field is sent as unset.
struct AllKeys: Contender {
  let name = "allKeys"
  let rule =
    "every key of the last client to arrive replaces the server's"
  let source = Source.apple("CKModifyRecordsOperation.RecordSavePolicy")

  func outcome(of episode: Episode) -> Outcome {
    var server = episode.base
    for upload in episode.uploads {
      guard let after = upload.after else {
        server = nil
        continue
      }
      var record = server ?? [:]
      for (field, content) in upload.changes where content == nil {
        record[field] = nil
      }
      server = record.merging(after) { $1 }
    }
    return Outcome(everywhere: server)
  }
}
