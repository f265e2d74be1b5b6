// SPDX-License-Identifier: Apache-2.0

/// Changed fields overwrite without a check, as CloudKit's `changedKeys`.
///
/// Where somebody deleted the record meanwhile, the client saves its whole copy,
/// so that no record of a few fields comes into being.
struct ChangedKeys: Contender {
  let name = "changedKeys"
  let rule =
    "the fields a client changed replace the server's, unchecked"

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
