// SPDX-License-Identifier: Apache-2.0

import Foundation
import _RejoinVerification

/// The output and the exit code of a process.
struct Printed {
  let text: String
  let code: Int32
}

extension Printed {
  /// Returns the result of a strategy in a JSON document after warnings.
  private func result(of name: String) -> [String: Any]? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("{") } ?? ""
    let document = try? JSONSerialization.jsonObject(with: Data(line.utf8))
    let comparisons = (document as? [String: Any])?["comparisons"]
    let first = (comparisons as? [[String: Any]])?.first
    return (first?["strategies"] as? [[String: Any]])?.first {
      $0["name"] as? String == name
    }
  }

  /// Returns the changes that a strategy lost, the records with a loss, and the
  /// changes lost if deletions win.
  func counts(of name: String) -> [Int]? {
    guard let result = result(of: name),
      let losses = result["losses"] as? [String: Any],
      let strict = result["ifDeletionsWin"] as? [String: Any]
    else { return nil }
    return [losses["lost"], losses["withLoss"], strict["lost"]]
      .compactMap { $0 as? Int }
  }

  /// Returns the changed fields that end as users resolved them, and all
  /// changed fields.
  func asPeople(_ name: String) -> [Int]? {
    let agreement = result(of: name)?["asPeople"] as? [String: Any]
    let all = agreement?["all"] as? [String: Any]
    return all.map { [$0["equalFields"], $0["fields"]] }?
      .compactMap { $0 as? Int }
  }
}

/// Runs a program and waits until it exits.
func run(
  _ program: URL, _ words: [String], in folder: URL? = nil,
  _ environment: [String: String] = [:]
) throws -> Printed {
  let process = Process()
  let output = Pipe()
  process.executableURL = program
  process.arguments = words
  process.currentDirectoryURL = folder
  process.environment = ProcessInfo.processInfo.environment
    .merging(environment) { $1 }
  (process.standardOutput, process.standardError) = (output, output)
  try process.run()
  let text = try TestProgram.output(of: output)
  process.waitUntilExit()
  return Printed(
    text: String(decoding: text, as: UTF8.self),
    code: process.terminationStatus)
}

/// Runs the command.
func rejoin(
  _ words: String..., environment: [String: String] = [:]
) throws -> Printed {
  try run(
    Bundle.module.bundleURL.deletingLastPathComponent()
      .appending(path: "rejoin"), words, in: nil, environment)
}

/// A temporary folder for a test.
final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(
    path: "rejoin-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Writes a file, and returns its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let file = url.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file.path
  }
}
