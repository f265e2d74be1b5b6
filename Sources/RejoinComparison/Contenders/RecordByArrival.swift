// SPDX-License-Identifier: Apache-2.0

/// Last arrival wins, as CloudKit's `allKeys`: the keys the client holds replace
/// the server's, and keys that only the server has remain.
///
/// A field that the edit unsets is sent as such.
struct RecordByArrival: Contender {
  let name = "recordByArrival"
  let rule =
    "every key the last client to arrive holds replaces the server's"

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
