// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The name of a scope, compared by its bytes.
///
/// Equal strings can have different bytes. An "é" is one Unicode scalar, or an "e"
/// followed by an accent, and a database distinguishes the two:
///
///     "liste-\u{e9}" == "liste-e\u{301}"                         // true
///     ScopeName("liste-\u{e9}") == ScopeName("liste-e\u{301}")   // false
///
/// Compare names of this type when you check a ``Hub/Request``. Otherwise, a client
/// with access to one scope could read another one. If users can enter names,
/// normalize the names, so that all devices of a list use the same scope.
public struct ScopeName: Hashable, Sendable {
  /// The UTF-8 bytes of the name.
  public let utf8: [UInt8]

  /// Creates a name.
  public init(_ text: String) { utf8 = Array(text.utf8) }
}

extension ScopeName: ExpressibleByStringLiteral {
  /// Creates a name from a literal.
  public init(stringLiteral text: String) { self.init(text) }
}

extension ScopeName: CustomStringConvertible {
  /// The name as a text.
  public var description: String { String(decoding: utf8, as: UTF8.self) }
}
