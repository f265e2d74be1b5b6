// SPDX-License-Identifier: Apache-2.0

/// The payload of a remove-wins set: what a save did to an element.
public enum SetMark: UInt8, Hashable, Sendable, Comparable {
  /// The save added the element.
  case added
  /// The save removed it.
  case removed

  /// A removal is greater than an addition.
  public static func < (a: SetMark, b: SetMark) -> Bool {
    a.rawValue < b.rawValue
  }
}

extension DotMap<SetMark> {
  /// The elements, sorted.
  public var elements: [Value] {
    entries.map(\.key).filter(contains).sorted(byValue: \.self)
  }

  /// Whether an element has been added and no sibling is a removal.
  public func contains(_ element: Value) -> Bool {
    let marks = self[element]
    return !marks.isEmpty && marks.allSatisfy { $0.payload == .added }
  }
}
