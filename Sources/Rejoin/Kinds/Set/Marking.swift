// SPDX-License-Identifier: Apache-2.0

extension DotMap {
  /// Inserts or removes an element, and drops its marks in `seen`.
  ///
  /// - Returns: The marks of the element before the change.
  @discardableResult
  mutating func mark(
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

extension Causal<DotMap> {
  /// Inserts or removes one element in the next save of `device`.
  ///
  /// - Returns: The delta: the element's content after the change, and a
  ///   context of the change and the marks that it superseded.
  mutating func mark(
    _ key: Value, isIn: Bool, on device: DeviceID
  ) -> Causal {
    let (dot, before) = updateNext(of: device) {
      $0.mark(key, isIn: isIn, at: $1, seen: Everything())
    }
    var change = DotMap()
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
