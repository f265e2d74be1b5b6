// SPDX-License-Identifier: Apache-2.0

/// An observed-remove set, where an insertion wins over a concurrent removal.
///
///     var tags = ORSet<String>()
///     tags.insert("runner", on: phone)
///     var copy = tags
///     tags.remove("runner", on: phone)
///     copy.insert("runner", on: tablet)
///     tags.merge(copy)
///     tags.elements  // ["runner"]: the tablet's insertion was concurrent
///
/// A removal drops the insertions that it has seen and leaves no tombstone. See
/// Bieniusa et al., *An optimized conflict-free replicated set* (2012).
public struct ORSet<Element: FieldValue>: Hashable, Sendable {
  private(set) var state = Causal<DotMap>()

  /// Creates an empty set.
  public init() {}

  init(state: Causal<DotMap>) { self.state = state }

  /// The elements, sorted by their canonical bytes.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of elements.
  public var elements: [Element] {
    state.store.elements.compactMap { Element($0) }
  }

  /// The number of elements.
  public var count: Int { state.store.count }

  /// Whether the set has no elements.
  public var isEmpty: Bool { state.store.isEmpty }

  /// The saves that the set has seen.
  public var clock: VectorClock { state.clock }

  /// Returns whether an element is in the set.
  ///
  /// - Complexity: O(1) on average.
  public func contains(_ element: Element) -> Bool {
    state.store.contains(element.fieldValue)
  }

  /// Inserts an element.
  ///
  /// - Returns: The delta to merge into other copies.
  /// - Complexity: O(1) on average, if the set shares no storage with a copy.
  @discardableResult
  public mutating func insert(
    _ element: Element, on device: DeviceID
  ) -> ORSet {
    ORSet(state: state.mark(element.fieldValue, isIn: true, on: device))
  }

  /// Removes an element.
  ///
  /// The removal of an absent element uses a dot but has no other effect.
  ///
  /// - Returns: The delta to merge into other copies.
  /// - Complexity: O(1) on average, if the set shares no storage with a copy.
  @discardableResult
  public mutating func remove(
    _ element: Element, on device: DeviceID
  ) -> ORSet {
    ORSet(state: state.mark(element.fieldValue, isIn: false, on: device))
  }
}

extension ORSet: Lattice {
  /// - Complexity: O(*n*) on average, where *n* is the number of elements in
  ///   both sets.
  public mutating func merge(_ other: ORSet) { state.merge(other.state) }
}
