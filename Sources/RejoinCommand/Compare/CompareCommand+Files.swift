// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

extension CompareCommand {
  /// Writes the episodes, one a line.
  func writeEpisodes(to path: String) throws {
    let lines = try readEpisodes().map { $0.line(isAnswered: true) + "\n" }
    try write(lines.joined(), to: path) { $0.isEmpty }
  }

  /// Writes a page.
  ///
  /// - Parameter explained: The ID of the episode to draw, or `nil` for the one in
  ///   which the strategies differ most.
  func writePage(to path: String, _ explained: String?) throws {
    let all = try readEpisodes()
    var results:
      [(subject: Subject, result: RejoinComparison.ComparisonResult)] = []
    var widest: (difference: Difference, id: String)?
    func add(_ episodes: [Episode], _ subject: Subject) throws {
      let result = try compared(episodes) { episode, verdicts in
        let difference = Difference(verdicts, in: episode)
        if widest.map({ difference > $0.difference }) ?? true {
          widest = (difference, episode.id)
        }
      }
      results.append((subject, result))
    }
    if isGenerated {
      for (name, workload) in workloads {
        try add(episodes(name, workload), .generated(name: name, workload))
      }
    } else {
      try add(all.filter(\.countsInTotals), .records)
    }
    let episode = try (explained ?? widest?.id).map { try find($0, in: all) }
    let strategies = try strategies(for: episode.map { [$0] } ?? [])
    let text = try Page(
      results, episode: episode, isChosen: explained != nil, strategies
    ).html()
    let start = [UInt8](Page.start.utf8)
    try write(text, to: path) { $0.isEmpty || $0.starts(with: start) }
  }

  /// Writes a file, and nothing over data that the command did not write.
  ///
  /// - Parameter isOurs: Returns whether a file that begins with these bytes may be
  ///   replaced.
  private func write(
    _ text: String, to path: String, isOurs: ([UInt8]) -> Bool
  ) throws {
    let type = try? FileManager.default.attributesOfItem(
      atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)[.type]
    let isFile = type == nil || type as? FileAttributeType == .typeRegular
    if path == "/dev/stdout" || path == "-" { return Terminal.write(text) }
    if isFile {
      let file = FileHandle(forReadingAtPath: path)
      defer { try? file?.close() }
      let start = (try? file?.read(upToCount: 64)) ?? Data()
      guard isOurs([UInt8](start)) else {
        throw CommandError.usage(
          "\(path) exists, and this command did not write it; name another file"
        )
      }
    }
    try Files.write(text, to: path)
    Terminal.complain("wrote \(path)\n")
  }

  func explanation(of id: String) throws -> String {
    let episode = try find(id, in: readEpisodes())
    let strategies = try strategies(for: [episode])
    let text = try Explanation(episode, strategies).text()
    switch format {
    case .table: return text
    case .markdown: return text.fenced
    case .json, .jsonl:
      let lines = text.split(separator: "\n").map {
        JSONValue.scalar(.string(String($0)))
      }
      return JSONValue.object([
        "id": .scalar(.string(id)), "story": .array(lines),
      ])
      .description + "\n"
    }
  }

  private func find(_ id: String, in episodes: [Episode]) throws -> Episode {
    if let episode = episodes.first(where: { $0.id == id }) { return episode }
    let known = episodes.prefix(8).map { "\"\($0.id)\"" }
    throw CommandError.usage(
      "no episode has the ID \"\(id)\"; there are \(episodes.count), such as "
        + known.joined(separator: ", "))
  }
}
