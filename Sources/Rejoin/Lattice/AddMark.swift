// SPDX-License-Identifier: Apache-2.0

/// The payload of a set.
///
/// The dot alone says that an element was added.
public struct AddMark: Hashable, Sendable, Comparable {
  /// All marks are equal.
  public static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension DotMap {
  /// The elements, sorted.
  public var elements: [Value] { entries.map(\.key).sorted(byValue: \.self) }

  /// Whether the set contains an element.
  public func contains(_ element: Value) -> Bool { !self[element].isEmpty }
}
