// SPDX-License-Identifier: Apache-2.0

/// The payload of a set.
///
/// The dot alone says that an element was added.
package struct AddMark: Hashable, Sendable, Comparable {
  /// All marks are equal.
  package static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension DotMap {
  /// The elements, sorted.
  package var elements: [Value] { entries.map(\.key).sorted(byValue: \.self) }

  /// Whether the set contains an element.
  package func contains(_ element: Value) -> Bool { !self[element].isEmpty }
}
