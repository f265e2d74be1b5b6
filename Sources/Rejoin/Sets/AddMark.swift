// SPDX-License-Identifier: Apache-2.0

/// What an add-wins set keeps for an element and a save: that it was added.
public struct AddMark: Hashable, Sendable, Comparable {
  /// Nothing distinguishes one presence from another.
  public static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension DotMap<AddMark> {
  /// Puts an element in, in place of what of it `seen` contains.
  mutating func insert(_ element: Value, at dot: Dot, seen: some DotSet) {
    remove(element, seen: seen)
    self[element].insert(AddMark(), at: dot)
  }

  /// Takes out what of an element `seen` contains.
  mutating func remove(_ element: Value, seen: some DotSet) {
    self[element].drop(seen: seen)
  }

  /// The elements that are in, sorted.
  public var elements: [Value] { siblings.keys.sorted() }

  /// Whether an element is in.
  public func contains(_ element: Value) -> Bool { siblings[element] != nil }
}
