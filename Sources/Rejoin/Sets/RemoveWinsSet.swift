// SPDX-License-Identifier: Apache-2.0

/// A remove-wins set: a removal wins over a concurrent insertion.
///
///     var members = RemoveWinsSet<String>()
///     members.insert("eve", by: phone)
///     var copy = members
///     members.remove("eve", by: phone)
///     copy.insert("eve", by: tablet)
///     members.merge(copy)
///     members.elements  // []: the tablet had not seen the removal
///
/// Use it for permissions and the like, where keeping an element by mistake is
/// worse than losing it. A removal stays as a mark until it is superseded.
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

  /// The saves that the set has seen.
  public var clock: VectorClock { state.clock }

  /// Whether an element is in the set.
  ///
  /// - Complexity: O(1) on average.
  public func contains(_ element: Element) -> Bool {
    state.store.contains(element.fieldValue)
  }

  /// Inserts an element.
  ///
  /// - Returns: The delta to merge elsewhere.
  @discardableResult
  public mutating func insert(
    _ element: Element, by device: DeviceID
  ) -> RemoveWinsSet {
    RemoveWinsSet(
      state: state.mark(element.fieldValue, .added, by: device))
  }

  /// Removes an element, whether or not it is in the set: a concurrent
  /// insertion loses.
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
