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
  private(set) var state = Causal<ORSetStore>()

  /// Creates an empty set.
  public init() {}

  init(state: Causal<ORSetStore>) { self.state = state }

  /// The elements, sorted by their canonical bytes.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of elements.
  public var elements: [Element] {
    state.store.elements.compactMap { Element(fieldValue: $0) }
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
    ORSet(state: state.change(element.fieldValue, isIn: true, on: device))
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
    ORSet(state: state.change(element.fieldValue, isIn: false, on: device))
  }
}

extension ORSet: Lattice {
  /// - Complexity: O(*n*) on average, where *n* is the number of elements in
  ///   both sets.
  public mutating func merge(_ other: ORSet) { state.merge(other.state) }
}

extension ORSetStore {
  /// Inserts or removes an element, and drops its marks in `seen`.
  ///
  /// - Returns: The marks of the element before the change.
  @discardableResult
  mutating func change(
    _ element: Value, isIn: Bool, at dot: Dot, seen: some DotSet
  ) -> Siblings<AddMark> {
    update(element) { marks in
      let before = marks
      marks.drop(seen: seen)
      if isIn { marks.insert(AddMark(), at: dot) }
      return before
    }
  }
}

extension Causal<ORSetStore> {
  /// Inserts or removes one element in the next save of `device`.
  ///
  /// - Returns: The delta: the element's content after the change, and a
  ///   context of the change and the marks that it superseded.
  mutating func change(
    _ key: Value, isIn: Bool, on device: DeviceID
  ) -> Causal {
    let (dot, before) = updateNext(of: device) {
      $0.change(key, isIn: isIn, at: $1, seen: Everything())
    }
    var change = ORSetStore()
    if isIn { change[key] = Siblings(AddMark(), at: dot) }
    if before.isEmpty {
      return Causal(store: change, context: CausalContext(dot))
    }
    var dots: [Dot] = []
    dots.reserveCapacity(before.count + 1)
    dots.append(dot)
    for sibling in before { dots.append(sibling.dot) }
    return Causal(store: change, context: CausalContext(dots: dots))
  }
}

/// The encoded form of an element: its value and the changes that inserted it.
private struct CodedElement: Codable {
  let element: Value
  let changes: [Dot]
}

extension ORSet: Codable {
  private enum CodingKeys: CodingKey { case elements, seen }

  /// Encodes the elements, sorted, and the causal context.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let elements = state.store.contents.map {
      CodedElement(element: $0.key, changes: $0.siblings.map(\.dot))
    }
    try container.encode(elements, forKey: .elements)
    try container.encode(state.context, forKey: .seen)
  }

  /// Decodes the elements and the causal context.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let elements = try container.decode([CodedElement].self, forKey: .elements)
    let seen = try container.decode(CausalContext.self, forKey: .seen)
    guard
      zip(elements, elements.dropFirst()).allSatisfy({
        $0.element < $1.element
      })
    else { throw decoder.corrupted("expected each element once, sorted") }
    let store = try elements.map { coded -> ORSetStore.Entry in
      guard !coded.changes.isEmpty else {
        throw decoder.corrupted("expected at least one change of an element")
      }
      try decoder.check(coded.changes, areSeenBy: seen)
      return (
        coded.element,
        Siblings(
          sorted: coded.changes.map { .init(dot: $0, payload: AddMark()) })
      )
    }
    self.init(state: Causal(store: ORSetStore(store), context: seen))
  }
}
