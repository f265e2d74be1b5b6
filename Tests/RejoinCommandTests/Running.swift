// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a process has printed, and how it ended.
struct Printed {
  let text: String
  let code: Int32
}

extension Printed {
  /// The counts of a strategy in a table.
  func counts(of name: String) -> [String]? {
    text.split(separator: "\n").map { $0.split(separator: " ") }
      .first { row in row.contains { $0 == name || $0 == "\(name)," } }
      .map { $0.filter { $0.first?.isNumber == true }.map(String.init) }
  }
}

/// Runs a program, and waits for its end.
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
  let text = try output.fileHandleForReading.readToEnd() ?? Data()
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

/// A folder for the time of a test.
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
