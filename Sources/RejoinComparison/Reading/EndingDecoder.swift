// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A decoder of the output of a contender that runs as a program.
///
/// The output is an introduction and an ending for each episode.
package struct EndingDecoder {
  private let decoder: EpisodeDecoder

  /// Creates a decoder of one line.
  ///
  /// - Parameters:
  ///   - program: The name of the program, for errors.
  ///   - line: The number of the line, starting at one.
  package init(program: String, line: Int) {
    decoder = EpisodeDecoder(file: program, line: line)
  }

  /// The first line of a program's output.
  package struct Introduction: Sendable {
    /// The name of the contender.
    package let name: String
    /// The version of the library that the program runs.
    package let version: String
    /// The encoding and the merge rule in one line.
    package let rule: String
  }

  /// Returns the first line for a strategy that is not a program.
  package static func introduction(of strategy: any Contender) -> String {
    JSONValue.members([
      "name": .text(strategy.name), "rule": .text(strategy.rule),
      "version": .text(strategy.source),
    ]).description
  }

  /// Decodes the first line.
  ///
  /// - Throws: ``EpisodeFileError``.
  package func introduction(
    _ line: ArraySlice<UInt8>
  ) throws(EpisodeFileError) -> Introduction {
    let json = try decoder.object(decoder.parse(line), nil)
    try decoder.check(json.keys, against: ["name", "rule", "version"], in: nil)
    func text(_ key: String) throws(EpisodeFileError) -> String {
      try decoder.text(decoder.required(key, of: json, in: nil), key)
    }
    return Introduction(
      name: try text("name"), version: try text("version"),
      rule: try text("rule"))
  }

  /// Decodes the ending of an episode.
  ///
  /// - Throws: ``EpisodeFileError`` if the ID is not the episode's or a field
  ///   does not have the episode's kind.
  package func outcome(
    _ line: ArraySlice<UInt8>, of episode: Episode
  ) throws(EpisodeFileError) -> Outcome {
    let json = try decoder.object(decoder.parse(line), nil)
    try decoder.check(
      json.keys, against: ["id", "kept", "record", "records"], in: nil)
    let id = try decoder.text(decoder.required("id", of: json, in: nil), "id")
    guard id == episode.id else {
      throw decoder.error(
        .contradiction, "id", "found \"\(id)\"",
        "write the ending of \"\(episode.id)\", in the order of the episodes")
    }
    var outcome = Outcome(states: try states(json, of: episode))
    if let kept = json["kept"] {
      for (field, contents) in try decoder.object(kept, "kept") {
        let path = "kept.\(field)"
        for content in try decoder.array(contents, path) {
          // It stands for an unset field, and a register can also contain it.
          let isNull = content == .scalar(.null)
          if isNull { outcome.kept[field, default: []].insert(nil) }
          if isNull, episode.kind(of: field) != .register { continue }
          outcome.kept[field, default: []].insert(
            try decoder.content(content, path, episode.kind(of: field)))
        }
      }
    }
    return outcome
  }

  private func states(
    _ json: [String: JSONValue], of episode: Episode
  ) throws(EpisodeFileError) -> [PlainRecord?] {
    guard let records = json["records"] else {
      return [
        try decoder.record(
          decoder.required("record", of: json, in: nil), "record", episode.kinds
        )
      ]
    }
    let byDevice = try decoder.object(records, "records")
    var states: [PlainRecord?] = []
    for device in episode.devices {
      states.append(
        try decoder.record(
          decoder.required(device, of: byDevice, in: "records"),
          "records.\(device)", episode.kinds))
    }
    return states
  }
}
