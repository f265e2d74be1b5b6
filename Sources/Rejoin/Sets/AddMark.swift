// SPDX-License-Identifier: Apache-2.0

/// The payload of an add-wins set.
///
/// The dot alone says that an element was added.
public struct AddMark: Hashable, Sendable, Comparable {
  /// All marks are equal.
  public static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension DotMap<AddMark> {
  /// Inserts an element, replacing its observed dots.
  mutating func insert(_ element: Value, at dot: Dot, seen: some DotSet) {
    remove(element, seen: seen)
    self[element].insert(AddMark(), at: dot)
  }

  /// Removes an element's observed dots.
  mutating func remove(_ element: Value, seen: some DotSet) {
    self[element].drop(seen: seen)
  }

  /// The elements, sorted.
  public var elements: [Value] { siblings.keys.sorted() }

  /// Whether the set contains an element.
  public func contains(_ element: Value) -> Bool { siblings[element] != nil }
}
