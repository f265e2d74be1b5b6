// SPDX-License-Identifier: Apache-2.0

/// Last write wins for each field by the wall clock; where two times are equal, a
/// vector clock tells which write had seen the other.
///
/// Of concurrent writes at one time, that of the greater device wins. Deleting the
/// record is a write, too.
struct TimestampThenVectorClock: Contender {
  let name = "timestampThenVectorClock"
  let rule =
    "each field's latest wall-clock time wins; of equal times, what had seen the "
    + "other"

  func outcome(of episode: Episode) -> Outcome {
    var record = episode.base ?? [:]
    var last: [String: Version] = [:]
    var existence: (exists: Bool, version: Version?) = (
      episode.base != nil, nil
    )
    var counts: [String: Int] = [:]
    for upload in episode.uploads {
      counts[upload.device, default: 0] += 1
      let version = Version(
        at: upload.edit.at, device: upload.device,
        count: counts[upload.device] ?? 0)
      for (field, content) in upload.changes where version.beats(last[field]) {
        last[field] = version
        record[field] = content
      }
      if version.beats(existence.version) {
        existence = (upload.after != nil, version)
      }
    }
    return Outcome(everywhere: existence.exists ? record : nil)
  }

  /// The time of a write, and its vector clock, which has one entry: an offline
  /// device has seen only the base and its own writes.
  private struct Version {
    let at: Int64
    let device: String
    /// The number of the device's writes so far.
    let count: Int

    func beats(_ other: Version?) -> Bool {
      guard let other else { return true }
      return (at, device, count) > (other.at, other.device, other.count)
    }
  }
}
