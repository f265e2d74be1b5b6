// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension EpisodeDecoder {
  private static let keys: Set = [
    "at", "base", "group", "id", "kinds", "mine", "resolution", "resolvedBy",
    "source", "theirs",
  ]

  /// Decodes the three states of a record.
  func snapshots(
    _ json: [String: JSONValue]
  ) throws(EpisodeFileError) -> Episode {
    try check(json.keys, against: Self.keys, in: nil)
    let kinds = declared.byField.merging(try kinds(json["kinds"])) { $1 }
    func row(
      _ key: String
    ) throws(EpisodeFileError) -> JSONValue.Row? {
      let value = try required(key, of: json, in: nil)
      if value == .scalar(.null) { return nil }
      let row = try object(value, key)
      for (name, kind) in kinds {
        guard let value = row[name] else { continue }
        let path = "\(key).\(name)"
        switch kind {
        case .counter: _ = try integer(value, path)
        case .set: _ = try texts(value, path)
        default: break
        }
      }
      return row
    }
    var resolution: JSONValue.Row??
    if json["resolution"] != nil { resolution = try row("resolution") }
    var snapshots = Snapshots(
      id: try optionalText(json["id"], "id") ?? "line-\(line)",
      base: try row("base"), mine: try row("mine"), theirs: try row("theirs"),
      resolution: resolution, kinds: kinds)
    if let at = json["at"] {
      let times = try object(at, "at")
      try check(times.keys, against: ["mine", "theirs"], in: "at")
      snapshots.times = (
        try integer(required("mine", of: times, in: "at"), "at.mine"),
        try integer(required("theirs", of: times, in: "at"), "at.theirs")
      )
    }
    var episode = snapshots.episode
    episode.resolvedBy = try resolver(json["resolvedBy"])
    episode.group = try optionalText(json["group"], "group")
    episode.source = try optionalText(json["source"], "source")
    try checkNames(of: episode)
    return episode
  }
}
