// SPDX-License-Identifier: Apache-2.0

/// What an add-wins set keeps for an element and a save: that it was added.
public struct AddMark: Hashable, Sendable, Comparable {
  /// Nothing distinguishes one presence from another.
  public static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension DotMap<AddMark> {
  /// The elements that are in, sorted.
  public var elements: [Value] { siblings.keys.sorted() }

  /// Whether an element is in.
  public func contains(_ element: Value) -> Bool { siblings[element] != nil }
}
