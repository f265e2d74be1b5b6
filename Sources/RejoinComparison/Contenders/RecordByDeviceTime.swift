// SPDX-License-Identifier: Apache-2.0

/// Last write wins for the whole record, by the latest wall-clock time.
///
/// Every device uploads its whole copy or a deletion. If times are equal, the
/// later arrival wins.
struct RecordByDeviceTime: Contender {
  let name = "recordByDeviceTime"
  let rule = "the whole record with the latest wall-clock time wins"
  let source = Source.guide

  func outcome(of episode: Episode) -> Outcome {
    var server = (record: episode.base, at: Int64.min)
    for upload in episode.uploads where upload.edit.at >= server.at {
      server = (upload.after, upload.edit.at)
    }
    return Outcome(everywhere: server.record)
  }
}
