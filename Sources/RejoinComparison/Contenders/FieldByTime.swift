// SPDX-License-Identifier: Apache-2.0

/// Last write wins for each field, by the latest wall-clock time.
///
/// The record's existence is another field.
struct FieldByTime: Contender {
  /// The documented rule.
  ///
  /// If times are equal, the last write to arrive wins.
  static let documented = FieldByTime(keepsOwnOnTies: false)
  /// The rule of a shipped version.
  ///
  /// If times are equal, each device keeps its own value.
  static let shipped = FieldByTime(keepsOwnOnTies: true)

  private let keepsOwnOnTies: Bool

  var name: String {
    keepsOwnOnTies ? "fieldByTime.ownOnTies" : "fieldByTime"
  }

  var rule: String {
    keepsOwnOnTies
      ? "as fieldByTime, but of equal times, each device keeps its own value"
      : "in every field, the latest wall-clock time wins; closest to sqlite-data, "
        + "of which a version kept each device's own value on equal times (#506)"
  }

  var source: String {
    keepsOwnOnTies
      ? Source.model("github.com/pointfreeco/sqlite-data/pull/506")
      : Source.model("SQLiteData, CloudKit sync")
  }

  private struct Write {
    let content: Content?
    let at: Int64
  }

  func outcome(of episode: Episode) -> Outcome {
    var record = episode.base ?? [:]
    var times: [String: Int64] = [:]
    var existence = (exists: episode.base != nil, at: Int64.min)
    for edit in episode.earlier {
      if edit.at >= existence.at { existence = (!edit.isDeletion, edit.at) }
      for field in edit.fields {
        times[field] = max(times[field] ?? .min, edit.at)
      }
    }
    var own: [String: [String: Write]] = [:]
    for upload in episode.uploads {
      let at = upload.edit.at
      if at >= existence.at { existence = (upload.after != nil, at) }
      for (field, content) in upload.changes {
        own[upload.device, default: [:]][field] = Write(
          content: content, at: at)
        guard at >= times[field] ?? .min else { continue }
        times[field] = at
        record[field] = content
      }
    }
    guard existence.exists else { return Outcome(everywhere: nil) }
    guard keepsOwnOnTies else { return Outcome(everywhere: record) }
    return Outcome(
      states: episode.devices.map { device in
        var shown = record
        for (field, write) in own[device] ?? [:] where write.at == times[field]
        {
          shown[field] = write.content
        }
        return shown
      })
  }
}
