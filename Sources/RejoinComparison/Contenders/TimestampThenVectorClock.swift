// SPDX-License-Identifier: Apache-2.0

/// Vector clocks first, and the wall clock between concurrent versions.
///
/// Every version of the record is sent once to every device, in the order of
/// arrival; a device has its own versions first. The rule is not transitive:
/// `w1 = A@30`, `w2 = B@10` having seen `w1`, and `w3 = C@20` give w2 > w1 > w3
/// > w2. The devices can therefore end with different records.
struct TimestampThenVectorClock: Contender {
  let name = "timestampThenVectorClock"
  let rule =
    "a version that had seen the other wins; else the later wall-clock time"

  func outcome(of episode: Episode) -> Outcome {
    let versions = versions(of: episode)
    let states = episode.devices.map { device -> PlainRecord? in
      var copy = Version(record: episode.base, device: "", count: 0, at: .min)
      let own = versions.filter { $0.device == device }
      let others = versions.filter { $0.device != device }
      for version in own + others where version.beats(copy) { copy = version }
      return copy.record
    }
    return Outcome(states: states.isEmpty ? [episode.base] : states)
  }

  private func versions(of episode: Episode) -> [Version] {
    var counts: [String: Int] = [:]
    return episode.uploads.map { upload in
      counts[upload.device, default: 0] += 1
      return Version(
        record: upload.after, device: upload.device,
        count: counts[upload.device] ?? 0, at: upload.edit.at)
    }
  }

  /// A record with its vector clock, which has one entry: an offline device has
  /// seen only the base and its own versions.
  private struct Version {
    let record: PlainRecord?
    let device: String
    /// The number of the device's versions so far; zero for the base.
    let count: Int
    let at: Int64

    func beats(_ other: Version) -> Bool {
      if other.count == 0 { return true }
      if device == other.device { return count > other.count }
      return (at, device) > (other.at, other.device)
    }
  }
}
