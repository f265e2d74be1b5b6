// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Last write wins for each register by the wall clock.
///
/// If two times are equal, a vector clock decides which write had seen the
/// other. If these writes are concurrent, that of the greater device wins.
/// Fields whose changes commute store deltas: increments of counters, and
/// insertions and removals of sets. Deleting the record is a write.
struct TimestampThenVectorClock: Contender {
  let name = "timestampThenVectorClock"
  let rule =
    "each register's latest wall-clock time wins, and of equal times, the write "
    + "that had seen the other; counters and sets store deltas"
  let source = Source.article

  func outcome(of episode: Episode) -> Outcome {
    // An offline device had seen only the base and its own writes, so its
    // vector clock has one entry and its later write is the greater.
    var record = episode.base ?? [:]
    var exists = episode.base != nil
    for upload in episode.uploadsByTime {
      exists = upload.after != nil
      for field in upload.forgotten { record[field] = nil }
      if exists {
        record = upload.edit.applied(to: record, of: episode.kinds) ?? [:]
      }
    }
    return Outcome(everywhere: exists ? record : nil)
  }
}
