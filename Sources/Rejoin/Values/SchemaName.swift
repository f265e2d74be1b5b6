// SPDX-License-Identifier: Apache-2.0

/// A text that is compared, sorted and hashed by its UTF-8 bytes.
///
/// It is the dictionary key for entities and fields. As a `String`, a composed
/// and a decomposed "é" would be the same key.
public struct SchemaName: Sendable {
  /// The text.
  public let text: String

  /// Creates a name.
  public init(_ text: String) { self.text = text }
}

extension SchemaName: Hashable {
  public static func == (a: SchemaName, b: SchemaName) -> Bool {
    UTF8Order.equal(a.text, b.text)
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(text, into: &hasher)
  }
}

extension SchemaName: Comparable {
  public static func < (a: SchemaName, b: SchemaName) -> Bool {
    UTF8Order.compare(a.text, b.text) < 0
  }
}

extension SchemaName: ExpressibleByStringLiteral {
  /// Creates a name.
  public init(stringLiteral text: String) { self.init(text) }
}

extension SchemaName: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}
