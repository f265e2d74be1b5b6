// SPDX-License-Identifier: Apache-2.0

/// Apple's CKSyncEngine sample, where the later `userModificationDate` wins.
///
/// The copy with the later date stays as a whole. A refused client compares the
/// dates and sends the record again. If the dates are equal, it keeps its own
/// copy. The sample deletes a record without a check. If a record was deleted
/// on the server, the sample saves it again.
struct SyncEngineSample: Contender {
  let name = "CKSyncEngine sample"
  let rule =
    "a refused client keeps the whole record with the later modification date"
  let source = Source.apple("github.com/apple/sample-cloudkit-sync-engine")

  func outcome(of episode: Episode) -> Outcome {
    var server = (record: episode.base, at: Int64.min)
    for save in episode.contextSaves {
      if save.after == nil {
        server = (nil, .min)
      } else if server.record == nil || save.edit.at >= server.at {
        server = (save.after, save.edit.at)
      }
    }
    return Outcome(everywhere: server.record)
  }
}
