// SPDX-License-Identifier: Apache-2.0

extension PNCounter: DotStore {
  /// Whether the counter has no changes.
  package var isEmpty: Bool { entries.isEmpty }

  package func impliesContext(_ clock: VectorClock) -> Bool {
    entries.isEmpty && clock.isEmpty
  }

  package var dots: VectorClock {
    var clock = VectorClock()
    for entry in entries {
      clock.advance(to: Dot(entry.device, entry.sequence))
    }
    return clock
  }

  /// Keeps the later entry of each device.
  ///
  /// The merge ignores the contexts, because entries are never removed.
  package mutating func merge(
    _ other: PNCounter, seen: some DotSet, otherSeen: some DotSet
  ) {
    merge(other)
  }
}

extension PNCounter: FieldStore {
  public static var kind: FieldKind { .counter }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .counter(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .counter(let field) = box { field } else { nil }
  }

  package static var mayOverflow: Bool { true }

  package func allows(_ edit: FieldEdit, by device: DeviceID) -> Bool {
    guard case .count(let edit) = edit else { return true }
    return entry(of: device).canAdd(edit.increments, edit.decrements)
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] {
    if let retraction = save.retraction {
      turn(retraction.turns)
      if save.edit == nil { return [] }
    }
    let observed = observed.map { $0.held(by: self) }
    guard case .count(let edit) = save.edit else {
      cancel(observed: observed)
      return []
    }
    if save.drops || edit.isReset { cancel(observed: observed) }
    // A reset alone leaves no entry. Any other edit leaves one, even if it is
    // zero.
    if edit.increments > 0 || edit.decrements > 0 || !edit.isReset {
      let entry = add(
        edit.increments, edit.decrements, on: save.dot.device,
        sequence: save.dot.sequence)
      precondition(entry != nil, "a save checks before that no sum overflows")
    }
    return []
  }

  /// Returns the part of the observed entries that `current` contains.
  ///
  /// `current` has fewer entries if the replica was restored after the
  /// observation.
  private func held(by current: PNCounter) -> PNCounter {
    PNCounter(
      entries: entries.compactMap { entry in
        guard let mine = current.entries.entry(of: entry.device) else {
          return nil
        }
        return entry.sequence < mine.sequence ? entry : mine
      })
  }

  /// The sum of each device's changes that are not canceled.
  var amounts: [DeviceID: WideInt] {
    let pairs = entries.compactMap { entry -> (DeviceID, WideInt)? in
      let gone = cancellation(of: entry.device)
      return entry.sequence == gone.canceled
        ? nil : (entry.device, entry.sum - gone.sum)
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  package var hasContent: Bool {
    entries.contains { $0.sequence > cancellation(of: $0.device).canceled }
  }

  package var shownValues: [Value]? { hasContent ? [.int(value)] : nil }

  package func shows(sameAs other: Self) -> Bool { value == other.value }

  /// It includes the decisions of a later reset.
  package var byteBound: Int { 2 * ByteBound.sums * entries.count }

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

extension PNCounter {
  package func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? {
    var target = other.value
    if case .count(let edit) = edit { target = edit.applied(to: target) }
    return target == value
      ? nil : (.count(CounterEdit(by: target, isReset: true)), true)
  }

  package func undoContent(
    of element: Value?, by device: DeviceID
  ) -> UndoContent {
    .sums(
      UndoSums(
        device: device, sum: entry(of: device).sum,
        decisions: decisions))
  }

  package func opposites(since sums: UndoSums) -> [LedgerEdit.Entry] {
    var opposites: [LedgerEdit.Entry] = []
    let sum = sums.sum - entry(of: sums.device).sum
    if sum != 0 { opposites.append(sum, memo: nil) }
    return opposites
  }

  package func edit(
    restoring content: UndoRestoration, by device: DeviceID
  ) -> FieldEdit? {
    guard case .amounts(let amounts) = content else { return nil }
    let sum = amounts.reduce(0) { $0 + WideInt($1.amount) }
    var edit = CounterEdit()
    guard let increments = UInt64(exactly: max(sum, 0)),
      let decrements = UInt64(exactly: max(-sum, 0)),
      entry(of: device).canAdd(increments, decrements)
    else { return nil }
    (edit.increments, edit.decrements) = (increments, decrements)
    return .count(edit)
  }
}

// A fragment contains the entries of some devices. If it includes decisions, a
// receiver accepts or refuses it as a whole.
extension PNCounter {
  package static var supportsFragments: Bool { true }

  package var size: Int { entries.count }

  package var isWhole: Bool { !canceled.isEmpty }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? {
    let new = entries.beyond(missing.known) { $0.sequence }
    if missing.hasRemovals || canceled.isEmpty {
      return (PNCounter(entries: new), [])
    }
    // A canceled sum can be older than the entry that it belongs to.
    let decided = canceled.map { entry(of: $0.device) }
    let parts = new.union(decided) { $0.isBefore($1) }
    return (PNCounter(entries: parts, canceled: canceled), [])
  }

  package func part(of devices: Set<DeviceID>) -> Self {
    PNCounter(entries: entries.filter { devices.contains($0.device) })
  }
}

extension FieldState {
  /// The value of a counter, or zero for another kind of field.
  public var count: Int64 { store(of: PNCounter.self)?.value ?? 0 }
}
