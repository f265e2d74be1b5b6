// SPDX-License-Identifier: Apache-2.0

import RejoinComparison

/// The faults that programs have, each with the smallest of the episodes.
struct ProgramFaults {
  private let programs: [ProgramContender]
  /// For each program, the episodes with each fault.
  private var found: [[Fault: Finding]]
  /// The names of the programs, or their commands before they run.
  private var names: [String]

  private struct Finding {
    var count: Int
    var smallest: Episode
  }

  init(_ programs: [ProgramContender]) {
    self.programs = programs
    found = programs.map { _ in [:] }
    names = programs.map(\.command)
  }

  /// Adds the verdicts on an episode, with those on the programs last.
  mutating func add(_ episode: Episode, _ verdicts: [EpisodeVerdict]) {
    for (index, verdict) in verdicts.suffix(programs.count).enumerated() {
      names[index] = verdict.strategy
      for fault in Fault.allCases {
        var episode = episode
        if !fault.isIn(verdict) {
          guard fault.isInReversed(verdict) else { continue }
          episode = episode.arrivingReversed
        }
        var finding =
          found[index][fault] ?? Finding(count: 0, smallest: episode)
        finding.count += 1
        if episode.size.lexicographicallyPrecedes(finding.smallest.size) {
          finding.smallest = episode
        }
        found[index][fault] = finding
      }
    }
  }

  /// Describes the faults, each with a small episode.
  func text(_ format: TextFormat) -> String {
    var text = ""
    for (index, program) in programs.enumerated() {
      let faults = found[index]
      // Several faults can have the same episode.
      var words: [String: [String]] = [:]
      var episodes: [Episode] = []
      for fault in Fault.allCases {
        guard let finding = faults[fault] else { continue }
        let episode = finding.smallest.smallest(with: fault) {
          try? Self.verdicts(on: program.contender(for: $0), $0)
        }
        let line = episode.line(isAnswered: false)
        if words[line] == nil { episodes.append(episode) }
        words[line, default: []].append(
          "\(fault.words) in \(finding.count.counted("episode"))")
      }
      for episode in episodes {
        let line = episode.line(isAnswered: false)
        let example = story(of: episode, program) + "\n" + line + "\n"
        let sentence =
          "`\(names[index])` "
          + (words[line] ?? []).joined(separator: ", and ")
          + ". The smallest one, without parts that are not needed, as a story "
          + "and as a line of a file:"
        text += "\n" + sentence.wrapped() + "\n\n"
        text += format == .markdown ? example.fenced : example
      }
    }
    return text
  }

  /// Describes how the program ends an episode in a separate run.
  private func story(
    of episode: Episode, _ program: ProgramContender
  ) -> String {
    do {
      let contender = try program.contender(for: [episode])
      let verdicts = try Self.verdicts(on: contender, [episode])
      let hasFault = verdicts.contains { verdict in
        Fault.allCases.contains { $0.isIn(verdict) }
      }
      return try Explanation(episode, [contender]).text()
        + (hasFault ? "" : "In this run, the program had no fault.\n")
    } catch { return "In this run, the program failed: \(error)\n" }
  }

  private static func verdicts(
    on contender: any Contender, _ episodes: [Episode]
  ) throws -> [EpisodeVerdict] {
    var all: [EpisodeVerdict] = []
    _ = try Comparison([contender]).run(episodes) { all += $1 }
    return all
  }
}

extension String {
  /// The text as a block of code in Markdown.
  var fenced: String {
    // Longer than any run of marks within.
    let runs = split { $0 != "`" }.map(\.count)
    let fence = String(repeating: "`", count: max(runs.max() ?? 0, 2) + 1)
    return fence + "\n" + self + fence + "\n"
  }
}
