// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison
import RejoinTesting

/// A program that merges episodes: it reads a line for each, and writes an
/// introduction and a line for each ending.
struct ProgramContender {
  /// The command, as a shell reads it.
  let command: String

  /// Runs the program on some episodes.
  ///
  /// - Returns: A contender that knows how these episodes end.
  func contender(for episodes: [Episode]) throws -> any Contender {
    let lines = episodes.map { $0.line(isAnswered: false) }
    let output = try run(on: lines)
    var rows = output.split(separator: 0x0a)[...]
    guard let first = rows.popFirst() else {
      throw CommandError.failed(
        "the contender `\(command)` wrote nothing; write an introduction, and an "
          + "ending for each episode")
    }
    do {
      let introduction = try EndingDecoder(program: name, line: 1)
        .introduction(first)
      guard rows.count == episodes.count else {
        throw CommandError.failed(
          "the contender `\(command)` wrote \(rows.count.counted("ending")) for "
            + "\(episodes.count.counted("episode")); write one line for each")
      }
      var outcomes: [String: Outcome] = [:]
      for (index, (row, episode)) in zip(rows, episodes).enumerated() {
        outcomes[lines[index]] = try EndingDecoder(
          program: name, line: index + 2
        ).outcome(row, of: episode)
      }
      return Finished(introduction, outcomes, source: "run by `\(command)`")
    } catch let error as EpisodeFileError {
      throw CommandError.failed("the contender \(error)")
    }
  }

  private var name: String { "`\(command)`" }

  private func run(on lines: [String]) throws -> [UInt8] {
    // The episodes are in a file, so that the program may read and write as it
    // likes.
    let file = FileManager.default.temporaryDirectory
      .appending(path: "rejoin-\(UUID()).jsonl")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = output
    try process.run()
    let bytes = try Files.read(output)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandError.failed(
        "the contender `\(command)` ended with status "
          + "\(process.terminationStatus); its own errors are above")
    }
    return bytes
  }
}

/// The endings that a program wrote.
private struct Finished: Contender {
  let name: String
  let rule: String
  let source: String
  private let outcomes: [String: Outcome]

  init(
    _ introduction: EndingDecoder.Introduction, _ outcomes: [String: Outcome],
    source: String
  ) {
    name = introduction.name
    rule = "\(introduction.rule) [\(introduction.version)]"
    (self.outcomes, self.source) = (outcomes, source)
  }

  func outcome(of episode: Episode) throws -> Outcome {
    guard let outcome = outcomes[episode.line(isAnswered: false)] else {
      preconditionFailure("A program must run on every episode first.")
    }
    return outcome
  }
}
