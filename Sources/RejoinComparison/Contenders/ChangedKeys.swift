// SPDX-License-Identifier: Apache-2.0

/// Changed fields overwrite without a check, like CloudKit's `changedKeys`.
///
/// If the record was deleted on the server, the client saves its whole copy.
/// Otherwise the record would return with only a few fields.
struct ChangedKeys: Contender {
  let name = "changedKeys"
  let rule =
    "the fields that a client changed replace the server's, unchecked"
  let source = Source.apple("CKModifyRecordsOperation.RecordSavePolicy")

  func outcome(of episode: Episode) -> Outcome {
    var server = episode.base
    for upload in episode.uploads {
      guard let after = upload.after, server != nil else {
        server = upload.after
        continue
      }
      for field in upload.changes.keys { server?[field] = after[field] }
    }
    return Outcome(everywhere: server)
  }
}
