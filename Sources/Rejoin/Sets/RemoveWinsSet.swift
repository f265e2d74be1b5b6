// SPDX-License-Identifier: Apache-2.0

/// A set in which removing wins over adding at the same time.
///
///     var members = RemoveWinsSet<String>()
///     members.insert("eve", by: phone)
///     var copy = members
///     members.remove("eve", by: phone)
///     copy.insert("eve", by: tablet)
///     members.merge(copy)
///     members.elements  // []: nobody had seen the removal
///
/// For permissions and the like, where keeping something by mistake is worse than
/// losing it. A removal is kept as a mark until it is superseded.
public struct RemoveWinsSet<Element: FieldValue>: Hashable, Sendable {
  private(set) var state = Causal<DotMap<SetMark>>()

  /// Creates an empty set.
  public init() {}

  init(state: Causal<DotMap<SetMark>>) { self.state = state }

  /// The elements, sorted by their canonical bytes.
  ///
  /// - Complexity: O(*n* log *n*).
  public var elements: [Element] {
    state.store.elements.compactMap { Element($0) }
  }

  /// What the set has seen.
  public var clock: VectorClock { state.clock }

  /// Whether an element is in the set.
  ///
  /// - Complexity: O(1) on average.
  public func contains(_ element: Element) -> Bool {
    state.store.contains(element.fieldValue)
  }

  /// Adds an element.
  ///
  /// - Returns: The delta to merge elsewhere.
  @discardableResult
  public mutating func insert(
    _ element: Element, by device: DeviceID
  ) -> RemoveWinsSet {
    RemoveWinsSet(
      state: state.mark(element.fieldValue, .added, by: device))
  }

  /// Removes an element, also one that others may be adding.
  ///
  /// - Returns: The delta to merge elsewhere.
  @discardableResult
  public mutating func remove(
    _ element: Element, by device: DeviceID
  ) -> RemoveWinsSet {
    RemoveWinsSet(
      state: state.mark(element.fieldValue, .removed, by: device))
  }
}

extension RemoveWinsSet: Lattice {
  /// - Complexity: O(*n*) on average for the *n* elements of both.
  public mutating func merge(_ other: RemoveWinsSet) {
    state.merge(other.state)
  }
}
