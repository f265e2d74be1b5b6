// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A decoder of one line of a file, which refuses unknown keys and
/// contradictions.
struct EpisodeDecoder {
  let file: String
  /// The number of the line, starting at one.
  let line: Int
  /// The kinds of fields that the three states of a record do not declare.
  var declared = DeclaredKinds()

  private static let keys: Set = [
    "arrival", "base", "earlier", "edits", "group", "id", "kinds", "resolution",
    "resolvedBy", "source",
  ]

  func error(
    _ code: EpisodeFileError.Code, _ key: String?, _ problem: String,
    _ remedy: String
  ) -> EpisodeFileError {
    EpisodeFileError(
      code: code, file: file, line: line, key: key, problem: problem,
      remedy: remedy
    )
  }

  func episode(
    _ row: ArraySlice<UInt8>
  ) throws(EpisodeFileError) -> Episode {
    let json = try object(parse(row), nil)
    if json["mine"] != nil || json["theirs"] != nil {
      return try snapshots(json)
    }
    try check(json.keys, against: Self.keys, in: nil)
    let kinds = try kinds(json["kinds"]).filter { $0.value != .register }
    var episode = Episode(
      id: try text(required("id", of: json, in: nil), "id"),
      base: try record(required("base", of: json, in: nil), "base", kinds),
      kinds: kinds,
      edits: try edits(required("edits", of: json, in: nil), "edits", kinds))
    if let earlier = json["earlier"] {
      episode.earlier = try edits(earlier, "earlier", kinds)
    }
    episode.arrival = try arrival(json["arrival"], of: episode)
    try checkEarlierEdits(of: episode)
    episode.resolution = try resolution(json["resolution"], kinds)
    episode.resolvedBy = try resolver(json["resolvedBy"])
    episode.group = try optionalText(json["group"], "group")
    episode.source = try optionalText(json["source"], "source")
    try checkNames(of: episode)
    return episode
  }

  func checkNames(of episode: Episode) throws(EpisodeFileError) {
    if let fault = episode.fields.sorted().lazy.compactMap(NameFault.init).first
    {
      throw error(.badName, nil, fault.problem, fault.remedy)
    }
  }

  func parse(
    _ row: ArraySlice<UInt8>
  ) throws(EpisodeFileError) -> JSONValue {
    do {
      return try JSONParser.value(of: row)
    } catch {
      throw self.error(
        .malformed, nil, "column \(error.offset): \(error.problem)",
        "write one JSON object per line")
    }
  }

  func kinds(
    _ json: JSONValue?
  ) throws(EpisodeFileError) -> [String: FieldKind] {
    guard let json else { return [:] }
    var kinds: [String: FieldKind] = [:]
    for (field, value) in try object(json, "kinds") {
      let name = try text(value, "kinds.\(field)")
      let kind = FieldKind(rawValue: name)
      guard let kind, [.register, .set, .counter].contains(kind) else {
        throw error(
          .unknownKind, "kinds.\(field)", "unknown kind \"\(name)\"",
          "use \"register\", \"set\" or \"counter\"")
      }
      kinds[field] = kind
    }
    return kinds
  }

  private func arrival(
    _ json: JSONValue?, of episode: Episode
  ) throws(EpisodeFileError) -> [String]? {
    guard let json else { return nil }
    let names = try texts(json, "arrival")
    guard Set(names).isSuperset(of: episode.edits.map(\.device)) else {
      throw error(
        .contradiction, "arrival", "a device is missing",
        "list every device of \"edits\"")
    }
    return names
  }

  private func checkEarlierEdits(
    of episode: Episode
  ) throws(EpisodeFileError) {
    guard !episode.earlier.isEmpty else { return }
    let others = Set(episode.earlier.map(\.device)).subtracting(episode.devices)
    if let other = others.min() {
      throw error(
        .contradiction, "earlier", "\"\(other)\" is no device of the episode",
        "list it in \"arrival\"")
    }
    let end = episode.earlier.reduce(nil) { record, edit in
      edit.applied(to: record, of: episode.kinds)
    }
    guard end?.visible == episode.base?.visible else {
      throw error(
        .contradiction, "base", "\"earlier\" ends with another record",
        "write the record that its edits leave, and null if they delete it")
    }
  }

  private func resolution(
    _ json: JSONValue?, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> Episode.Resolution? {
    guard let json else { return nil }
    guard let record = try record(json, "resolution", kinds) else {
      return .deleted
    }
    return .record(record)
  }

  func resolver(
    _ json: JSONValue?
  ) throws(EpisodeFileError) -> Episode.Resolver? {
    guard let json else { return nil }
    let name = try text(json, "resolvedBy")
    guard let resolver = Episode.Resolver(rawValue: name) else {
      let known = Episode.Resolver.allCases.map { "\"\($0.rawValue)\"" }
      throw error(
        .unknownResolver, "resolvedBy", "unknown resolver \"\(name)\"",
        "use one of \(known.joined(separator: ", "))")
    }
    return resolver
  }
}
