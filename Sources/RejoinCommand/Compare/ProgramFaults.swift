// SPDX-License-Identifier: Apache-2.0

import RejoinComparison

/// The faults that programs have, each with the smallest episode that shows it.
struct ProgramFaults {
  private let programs: [ProgramContender]
  /// For each program, the episodes with each fault.
  private var found: [[Fault: Finding]]

  private struct Finding {
    var count: Int
    var smallest: Episode
  }

  init(_ programs: [ProgramContender]) {
    self.programs = programs
    found = programs.map { _ in [:] }
  }

  /// Adds the verdicts on an episode, of which those on the programs are last.
  mutating func add(_ episode: Episode, _ verdicts: [EpisodeVerdict]) {
    for (index, verdict) in verdicts.suffix(programs.count).enumerated() {
      for fault in Fault.allCases where fault.isIn(verdict) {
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

  /// Describes the faults, each with an episode from which nothing can be left
  /// out.
  func text(_ format: TextFormat) throws -> String {
    var text = ""
    for (program, faults) in zip(programs, found) {
      // Several faults can have the same episode.
      var words: [String: [String]] = [:]
      var episodes: [Episode] = []
      for fault in Fault.allCases {
        guard let finding = faults[fault] else { continue }
        let episode = try finding.smallest.smallest(with: fault) {
          try program.verdicts(on: $0)
        }
        let line = episode.line(isAnswered: false)
        if words[line] == nil { episodes.append(episode) }
        words[line, default: []].append(
          "\(fault.words) in \(finding.count.counted("episode"))")
      }
      for episode in episodes {
        let line = episode.line(isAnswered: false)
        let contender = try program.contender(for: [episode])
        let example =
          try Explanation(episode, [contender]).text() + "\n" + line + "\n"
        let sentence =
          "`\(contender.name)` "
          + (words[line] ?? []).joined(separator: ", and ")
          + ". What is left of the smallest one, as a story and as a line of a "
          + "file:"
        text += "\n" + sentence.wrapped() + "\n\n"
        text += format == .markdown ? example.fenced : example
      }
    }
    return text
  }
}

extension ProgramContender {
  /// Runs the program on some episodes, and judges their endings.
  fileprivate func verdicts(
    on episodes: [Episode]
  ) throws -> [EpisodeVerdict] {
    var all: [EpisodeVerdict] = []
    _ = try Comparison([contender(for: episodes)]).run(episodes) {
      all += $1
    }
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
