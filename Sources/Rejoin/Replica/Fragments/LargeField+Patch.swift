// SPDX-License-Identifier: Apache-2.0

/// The part of a changed large field that a store must write.
enum LargeFieldPatch {
  case nothing
  /// The whole field.
  case field
  case part(Fragment)
}

extension LargeField {
  /// Records that a store wrote the field.
  ///
  /// - Parameter isPatched: Whether to track the changes from now on.
  mutating func recordWritten(_ state: FieldState, isPatched: Bool) {
    unwritten = isPatched ? Unwritten(since: state.clock) : nil
  }

  /// Returns the changes of the field since a store wrote it.
  ///
  /// - Returns: The patch, or `nil` if the changes are unknown.
  func patch(of state: FieldState) -> LargeFieldPatch? {
    guard let unwritten else { return nil }
    let (clock, since) = (state.clock, unwritten.since)
    if clock == since { return unwritten.elements.isEmpty ? .nothing : nil }
    guard let set = state.store(of: DotMap.self) else {
      return state.fragment(since: since, horizon: horizon) { [] }
        .map { .part($0) }
    }
    // The fragment lists the lost elements, so it needs no horizon.
    let lost = unwritten.elements.filter { !set.contains($0) }
    var fragment = state.fragment(since: since, horizon: VectorClock()) {
      Array(unwritten.elements.subtracting(lost))
    }
    fragment?.lost = lost.sorted()
    return fragment.map { .part($0) }
  }
}
