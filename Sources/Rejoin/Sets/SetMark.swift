// SPDX-License-Identifier: Apache-2.0

/// What a remove-wins set keeps for an element and a save.
public enum SetMark: UInt8, Hashable, Sendable, Comparable {
  /// The save added the element.
  case added
  /// The save removed it.
  case removed

  /// A removal comes after an addition.
  public static func < (a: SetMark, b: SetMark) -> Bool {
    a.rawValue < b.rawValue
  }
}

extension DotMap<SetMark> {
  /// The elements that are in, sorted.
  public var elements: [Value] { siblings.keys.filter(contains).sorted() }

  /// Whether an element has been added and no sibling says that it was removed.
  public func contains(_ element: Value) -> Bool {
    let marks = self[element]
    return !marks.isEmpty && marks.allSatisfy { $0.payload == .added }
  }
}
