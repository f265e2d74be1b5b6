// SPDX-License-Identifier: Apache-2.0

/// A reader of files with one episode per line, in JSON Lines.
///
/// Blank lines are skipped. `rejoin compare --help` describes the format.
package enum EpisodeFile {
  /// Reads every episode in a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - file: The name of the file, for error messages.
  /// - Throws: ``EpisodeFileError``, which names the line, the key and the
  ///   remedy.
  package static func episodes(
    in text: String, file: String
  ) throws(EpisodeFileError) -> [Episode] {
    try episodes(in: Array(text.utf8), file: file, DeclaredKinds())
  }

  /// Reads every episode in the bytes of a file.
  ///
  /// - Throws: ``EpisodeFileError``, which names the line, the key and the
  ///   remedy.
  package static func episodes(
    in bytes: [UInt8], file: String, _ kinds: DeclaredKinds
  ) throws(EpisodeFileError) -> [Episode] {
    var episodes: [Episode] = []
    var lines: [String: Int] = [:]
    let newline = UInt8(ascii: "\n")
    let rows = bytes.split(separator: newline, omittingEmptySubsequences: false)
    for (index, row) in rows.enumerated() where !row.allSatisfy(isSpace) {
      let decoder = EpisodeDecoder(
        file: file, line: index + 1, declared: kinds)
      let episode = try decoder.episode(row)
      if let first = lines.updateValue(index + 1, forKey: episode.id) {
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
