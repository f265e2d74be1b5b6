// SPDX-License-Identifier: Apache-2.0

/// The payload of a set's element.
///
/// It is empty, because the dot alone shows that the element was added.
package struct AddMark: Hashable, Sendable, Comparable {
  /// Returns `false`, because all marks are equal.
  package static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension DotMap {
  /// The elements, sorted.
  package var elements: [Value] { entries.map(\.key).sorted(byValue: \.self) }

  /// Returns whether the set contains an element.
  package func contains(_ element: Value) -> Bool { !self[element].isEmpty }
}
