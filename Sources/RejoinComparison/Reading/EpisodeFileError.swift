// SPDX-License-Identifier: Apache-2.0

/// A file of episodes that cannot be read, with the place and the mend.
public struct EpisodeFileError: Error, Hashable {
  /// What is wrong.
  public enum Code: Hashable, Sendable {
    /// The file is missing or cannot be opened.
    case unreadable
    /// A line is not a JSON object.
    case malformed
    /// A key that the format does not have.
    case unknownKey
    /// A value of the wrong type.
    case wrongType
    /// A key that must be there is not.
    case missingKey
    /// Two episodes with one name.
    case duplicateID
    /// A field kind that episodes do not have.
    case unknownKind
    /// A resolver that the format does not have.
    case unknownResolver
    /// A field with a name that is too long.
    case longName
    /// Two parts of an episode that contradict each other.
    case contradiction
  }

  /// What is wrong.
  public let code: Code
  /// The name of the file.
  public let file: String
  /// The line, counted from one; `nil` where the whole file is meant.
  public let line: Int?
  /// The key, as a path from the line's outermost object.
  public let key: String?
  /// What is wrong, in words.
  public let problem: String
  /// How to mend it.
  public let mend: String
}

extension EpisodeFileError: CustomStringConvertible {
  /// The place, what is wrong, and how to mend it.
  public var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    let path = key.map { " \($0):" } ?? ""
    return "\(place):\(path) \(problem); \(mend)"
  }
}
