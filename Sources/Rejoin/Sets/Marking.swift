// SPDX-License-Identifier: Apache-2.0

extension DotMap {
  /// Marks an element in place of the marks of it that `seen` contains; `nil` only
  /// takes those away.
  mutating func mark(
    _ element: Value, _ mark: Payload?, at dot: Dot, seen: some DotSet
  ) {
    self[element].drop(seen: seen)
    if let mark { self[element].insert(mark, at: dot) }
  }
}

extension Causal {
  /// Marks one element in the next save of `device` and returns the delta: what
  /// the element holds now, having seen the change and what it superseded.
  mutating func mark<Payload>(
    _ key: Value, _ mark: Payload?, by device: DeviceID
  ) -> Self where Store == DotMap<Payload> {
    let before = store[key]
    let (dot, _) = updateNext(of: device) {
      $0.mark(key, mark, at: $1, seen: Everything())
    }
    var change = Store()
    change[key] = store[key]
    return Causal(
      store: change,
      context: CausalContext(
        dots: before.map(\.dot) + store[key].map(\.dot) + [dot]))
  }
}
