// SPDX-License-Identifier: Apache-2.0

/// An error that describes why a file of episodes could not be read.
package struct EpisodeFileError: Error, Hashable {
  /// The kind of an error.
  package enum Code: Hashable, Sendable {
    /// A line is not a JSON object.
    case malformed
    /// The format does not define the key.
    case unknownKey
    /// A value has the wrong type.
    case wrongType
    /// A required key is missing.
    case missingKey
    /// Two episodes have the same ID.
    case duplicateID
    /// The kind is not one that fields of an episode can have.
    case unknownKind
    /// The format does not define the resolver.
    case unknownResolver
    /// The name of a field is too long or starts with U+0000.
    case badName
    /// Two parts of an episode contradict each other.
    case contradiction
  }

  /// The kind of the error.
  package let code: Code
  /// The name of the file.
  package let file: String
  /// The number of the line, starting at one, or `nil` if the error concerns
  /// the whole file.
  package let line: Int?
  /// The path of the key in the line's object, such as `edits[0].at`, or `nil`
  /// if the error concerns the whole line.
  package let key: String?
  /// The problem.
  package let problem: String
  /// The remedy.
  package let remedy: String
}

extension EpisodeFileError: CustomStringConvertible {
  /// The location, the problem and the remedy.
  package var description: String {
    let location = line.map { "\(file):\($0)" } ?? file
    let path = key.map { " \($0):" } ?? ""
    return "\(location):\(path) \(problem); \(remedy)"
  }
}
