// SPDX-License-Identifier: Apache-2.0

extension Tally: FieldStore {
  package static var kind: FieldKind { .counter }

  package static var shapeCode: UInt8 { 2 }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .counter(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .counter(let field) = box { field } else { nil }
  }

  package func allows(_ edit: FieldEdit, by device: DeviceID) -> Bool {
    guard case .count(let edit) = edit else { return true }
    return canAdd(edit.increments, edit.decrements, by: device)
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] {
    let observed = observed.map { $0.held(by: self) }
    guard case .count(let edit) = save.edit else {
      reset(observed: observed)
      return []
    }
    if save.drops || edit.isReset { reset(observed: observed) }
    // A reset alone leaves no entry. Any other edit does, even one by zero.
    if edit.increments > 0 || edit.decrements > 0 || !edit.isReset {
      let entry = add(
        edit.increments, edit.decrements, by: save.dot.device,
        sequence: save.dot.sequence)
      precondition(entry != nil, "a save checks before that no sum overflows")
    }
    return []
  }

  /// Returns the observed entries, as far as `current` has them.
  ///
  /// It has fewer if the replica was restored since.
  private func held(by current: Tally) -> Tally {
    Tally(
      entries: entries.compactMap { entry in
        guard let mine = current.entries.entry(of: entry.device) else {
          return nil
        }
        return entry.sequence < mine.sequence ? entry : mine
      })
  }

  package var hasContent: Bool { entries != cancelled }

  package func shows(sameAs other: Self) -> Bool { value == other.value }

  package func shown(in part: Self) -> [UInt64] {
    [UInt64(bitPattern: value)]
  }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for entry in entries { body(Dot(entry.device, entry.sequence), nil) }
  }

  package var contributors: [DeviceID] { entries.map(\.device) }

  package func adds(sameAs other: Self, by device: DeviceID) -> Bool {
    entry(of: device) == other.entry(of: device)
  }

  package func equivocations(with other: Self) -> [Dot] {
    other.entries.compactMap { theirs in
      let mine = entry(of: theirs.device)
      return theirs.sequence == mine.sequence && theirs != mine
        ? Dot(mine.device, mine.sequence) : nil
    }
  }
}

// A part has the entries of some devices. With cancelled sums, it has all of
// them, and a receiver takes it as a whole.
extension Tally {
  package static var supportsFragments: Bool { true }

  package var size: Int { entries.count }

  package var isWhole: Bool { !cancelled.isEmpty }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    let new = entries.beyond(missing.known) { $0.sequence }
    if missing.hasRemovals || cancelled.isEmpty {
      return (Tally(entries: new), [])
    }
    // A cancelled sum needs its entry, or itself as one if no later entry is new.
    let union = new.union(cancelled) { $0.isBefore($1) }
    return (Tally(entries: union, cancelled: cancelled), [])
  }

  package func part(of devices: Set<DeviceID>) -> Self {
    Tally(entries: entries.filter { devices.contains($0.device) })
  }
}
