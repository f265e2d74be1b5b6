// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads files of episodes: JSON Lines, one episode per line.
///
/// Blank lines are skipped. `rejoin compare --help` describes the format.
package enum EpisodeFile {
  /// Reads every episode in the file at `path`.
  ///
  /// - Throws: ``EpisodeFileError``, with the line, the key and what to do.
  package static func read(
    _ path: String, _ kinds: DeclaredKinds = DeclaredKinds()
  ) throws(EpisodeFileError) -> [Episode] {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      let exists = FileManager.default.fileExists(atPath: path)
      throw EpisodeFileError(
        code: .unreadable, file: path, line: nil, key: nil,
        problem: exists ? "the file cannot be read" : "there is no such file",
        remedy: exists
          ? "check that it is a file and that you have permission to read it"
          : "check the path")
    }
    return try episodes(in: [UInt8](data), file: path, kinds)
  }

  /// Reads every episode in a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - file: The name of the file, for error messages.
  /// - Throws: ``EpisodeFileError``, with the line, the key and what to do.
  package static func episodes(
    in text: String, file: String
  ) throws(EpisodeFileError) -> [Episode] {
    try episodes(in: Array(text.utf8), file: file, DeclaredKinds())
  }

  private static func episodes(
    in bytes: [UInt8], file: String, _ kinds: DeclaredKinds
  ) throws(EpisodeFileError) -> [Episode] {
    var episodes: [Episode] = []
    var lines: [String: Int] = [:]
    let newline = UInt8(ascii: "\n")
    let rows = bytes.split(separator: newline, omittingEmptySubsequences: false)
    for (place, row) in rows.enumerated() where !row.allSatisfy(isSpace) {
      let decoder = EpisodeDecoder(
        file: file, line: place + 1, declared: kinds)
      let episode = try decoder.episode(row)
      if let first = lines.updateValue(place + 1, forKey: episode.id) {
        throw decoder.error(
          .duplicateID, "id", "\"\(episode.id)\" is also on line \(first)",
          "give every episode a different ID")
      }
      episodes.append(episode)
    }
    return episodes
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0d
  }
}
