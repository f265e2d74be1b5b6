// SPDX-License-Identifier: Apache-2.0

/// An error that describes why bytes could not be decoded.
///
/// If it is thrown, nothing has changed.
public struct WireError: Error, Hashable, Sendable {
  /// The kind of error.
  ///
  /// Later versions may add more kinds.
  public struct Code: Hashable, Sendable {
    /// The name of the code.
    public let name: String

    /// The bytes end too early.
    public static let truncated = Code(name: "truncated")
    /// The bytes are not a message of this format.
    public static let unrecognizedFormat = Code(name: "unrecognizedFormat")
    /// The message is not of the requested kind.
    public static let unexpectedKind = Code(name: "unexpectedKind")
    /// A version of the library that is too old wrote the message.
    public static let olderVersion = Code(name: "olderVersion")
    /// A newer version of the library wrote the message.
    public static let newerVersion = Code(name: "newerVersion")
    /// The bytes are damaged.
    public static let checksumMismatch = Code(name: "checksumMismatch")
    /// The bytes are valid but are not the canonical encoding of their content.
    public static let notCanonical = Code(name: "notCanonical")
    /// The bytes have no valid meaning.
    public static let invalid = Code(name: "invalid")
  }

  /// The kind of error.
  public let code: Code

  /// The offset of the error, in bytes from the start.
  public let offset: Int

  /// The content that was expected at the offset.
  public let expected: String

  package init(code: Code, offset: Int, expected: String) {
    (self.code, self.offset, self.expected) = (code, offset, expected)
  }

  /// Returns the error with its offset in a message that contains this one.
  package func moved(by offset: Int) -> WireError {
    WireError(code: code, offset: self.offset + offset, expected: expected)
  }
}

extension WireError: CustomStringConvertible {
  /// The problem, its location, the expected content and a remedy.
  public var description: String {
    "\(problem) (\(detail)). \(remedy)"
  }

  /// The offset and what was expected there, as a part of a sentence.
  package var detail: String { "byte \(offset): expected \(expected)" }

  private var problem: String {
    switch code {
    case .truncated: "The message ends too early"
    case .unrecognizedFormat: "The bytes are not a Rejoin message"
    case .unexpectedKind: "The message is of another kind"
    case .olderVersion: "The message has an older format"
    case .newerVersion: "The message has a newer format"
    case .checksumMismatch: "The message is damaged"
    case .notCanonical: "The message is not in its canonical form"
    default: "The message is invalid"
    }
  }

  private var remedy: String {
    switch code {
    case .olderVersion: "Convert it with the version of the app that wrote it."
    case .newerVersion: "Update the app."
    case .unexpectedKind: "Decode it as the kind that it is."
    case .unrecognizedFormat: "Pass the bytes of `encoded()`."
    default: "Fetch the message again."
    }
  }
}

/// The kind of a message, identified by the letter in its second byte.
package enum WireKind: UInt8, CaseIterable {
  case delta = 0x64  // d
  case vectorClock = 0x76  // v
  case replicaVersion = 0x63  // c
  case stored = 0x70  // p
  case token = 0x74  // t
  case undoStep = 0x75  // u
  case request = 0x71  // q
  case answer = 0x61  // a
  case object = 0x6f  // o

  /// The first byte of every message: `R`.
  static let firstByte: UInt8 = 0x52

  /// The third byte of every message, which is the version of the format.
  ///
  /// It is incremented for breaking changes.
  package static let version: UInt8 = 2

  package var name: String {
    switch self {
    case .delta: "delta"
    case .vectorClock: "vector clock"
    case .replicaVersion: "replica clock"
    case .stored: "stored replica"
    case .token: "restore token"
    case .undoStep: "undo step"
    case .request: "request"
    case .answer: "answer"
    case .object: "object"
    }
  }

  /// Whether every interval starts at zero, so messages omit its start.
  var startsAtZero: Bool { self != .delta }
}
