// SPDX-License-Identifier: Apache-2.0

/// What a store has to write of a large field that has changed.
enum LargeFieldPatch {
  case nothing
  /// All of it.
  case field
  case part(Fragment)
}

extension LargeField {
  /// Notes that a store has written the field.
  ///
  /// - Parameter isPatched: Whether it asks for what changes from now on.
  mutating func recordWritten(_ state: FieldState, isPatched: Bool) {
    unwritten = isPatched ? Unwritten(since: state.clock) : nil
  }

  /// What has changed of the field since a store has written it.
  ///
  /// - Returns: `nil` if that is not known.
  func patch(of state: FieldState) -> LargeFieldPatch? {
    guard let unwritten else { return nil }
    let (clock, since) = (state.clock, unwritten.since)
    if clock == since { return unwritten.elements.isEmpty ? .nothing : nil }
    guard let set = state.store(of: DotMap.self) else {
      return state.fragment(since: since, horizon: horizon) { [] }
        .map { .part($0) }
    }
    // It names what the set has lost, so it needs no horizon.
    let lost = unwritten.elements.filter { !set.contains($0) }
    var fragment = state.fragment(since: since, horizon: VectorClock()) {
      Array(unwritten.elements.subtracting(lost))
    }
    fragment?.lost = lost.sorted()
    return fragment.map { .part($0) }
  }
}
