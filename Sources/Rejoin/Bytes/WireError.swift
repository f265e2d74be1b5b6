// SPDX-License-Identifier: Apache-2.0

/// Why bytes could not be read.
///
/// Nothing has changed then.
public struct WireError: Error, Hashable, Sendable {
  /// What kind of fault it is; more may be told apart in later versions.
  public struct Code: Hashable, Sendable {
    /// The name of the code.
    public let name: String

    /// The bytes end too early.
    public static let truncated = Code(name: "truncated")
    /// The bytes are no message of this format.
    public static let unrecognizedFormat = Code(name: "unrecognizedFormat")
    /// The message is of another kind than what was asked for.
    public static let unexpectedKind = Code(name: "unexpectedKind")
    /// A newer version of the library has written the message.
    public static let newerVersion = Code(name: "newerVersion")
    /// The bytes have changed on the way.
    public static let checksumMismatch = Code(name: "checksumMismatch")
    /// The meaning is clear, but there is one way to write it and this is
    /// another.
    public static let notCanonical = Code(name: "notCanonical")
    /// What is written there cannot be.
    public static let invalid = Code(name: "invalid")
  }

  /// What kind of fault it is.
  public let code: Code

  /// Where the reading stopped, in bytes from the beginning.
  public let offset: Int

  /// What should have been there.
  public let expected: String
}

extension WireError: CustomStringConvertible {
  /// Where and what the fault is, and how to mend it.
  public var description: String {
    "byte \(offset): \(code.name), expected \(expected): \(remedy)"
  }

  private var remedy: String {
    switch code {
    case .newerVersion: "update the app"
    case .unexpectedKind: "decode it as what it is"
    case .unrecognizedFormat: "check that these are the right bytes"
    default: "fetch the message again"
    }
  }
}
