// SPDX-License-Identifier: Apache-2.0

extension DotMap {
  /// Marks an element in place of the marks of it that `seen` contains; `nil` only
  /// takes those away.
  ///
  /// - Returns: The marks that were there before.
  @discardableResult
  mutating func mark(
    _ element: Value, _ mark: Payload?, at dot: Dot, seen: some DotSet
  ) -> Siblings<Payload> {
    update(element) { marks in
      let before = marks
      marks.drop(seen: seen)
      if let mark { marks.insert(mark, at: dot) }
      return before
    }
  }
}

extension Causal {
  /// Marks one element in the next save of `device` and returns the delta: what
  /// the element holds now, having seen the change and what it superseded.
  mutating func mark<Payload>(
    _ key: Value, _ mark: Payload?, by device: DeviceID
  ) -> Self where Store == DotMap<Payload> {
    let (dot, before) = updateNext(of: device) {
      $0.mark(key, mark, at: $1, seen: Everything())
    }
    var change = Store()
    if let mark { change[key] = Siblings(mark, at: dot) }
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
