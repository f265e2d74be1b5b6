// SPDX-License-Identifier: Apache-2.0

/// The error of a file of episodes that cannot be read: where, what is wrong,
/// and what to do.
package struct EpisodeFileError: Error, Hashable {
  /// The kind of an error.
  package enum Code: Hashable, Sendable {
    /// A line is not a JSON object.
    case malformed
    /// The format has no such key.
    case unknownKey
    /// A value has the wrong type.
    case wrongType
    /// A required key is missing.
    case missingKey
    /// Two episodes have the same ID.
    case duplicateID
    /// Episodes have no such kind of field.
    case unknownKind
    /// The format has no such resolver.
    case unknownResolver
    /// The name of a field is too long, or begins with U+0000.
    case badName
    /// Two parts of an episode contradict each other.
    case contradiction
  }

  /// The kind of the error.
  package let code: Code
  /// The name of the file.
  package let file: String
  /// The number of the line, counted from one; `nil` for an error of the whole
  /// file.
  package let line: Int?
  /// The key, as a path from the line's object, such as `edits[0].at`; `nil`
  /// for an error of the whole line.
  package let key: String?
  /// What is wrong.
  package let problem: String
  /// What to do.
  package let remedy: String
}

extension EpisodeFileError: CustomStringConvertible {
  /// The place, what is wrong, and what to do.
  package var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    let path = key.map { " \($0):" } ?? ""
    return "\(place):\(path) \(problem); \(remedy)"
  }
}
