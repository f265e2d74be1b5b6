// SPDX-License-Identifier: Apache-2.0

extension MergeReport {
  /// Joins a field, and reports its change and its conflicts.
  ///
  /// - Parameter isQuiet: Whether conflicts are not reported.
  mutating func join(
    _ theirs: FieldState, into mine: inout FieldState, at location: Location,
    isQuiet: Bool, keepingValues: Bool
  ) {
    let before = mine
    mine.merge(theirs)
    // If not even the clock has grown, all their writes had been seen, and none
    // of them is concurrent with ours.
    guard mine != before else { return }
    records.insert(location.record)
    noteChange(before, mine, location, keepingValues)
    if !isQuiet { noteConflicts(before, mine, location) }
  }

  /// Joins a fragment, and reports the change.
  mutating func join(
    _ fragment: Fragment, into mine: inout FieldState, at location: Location,
    keepingValues: Bool
  ) {
    let old = keepingValues ? mine : nil
    let (clock, before) = (mine.clock, mine.shown(in: fragment.state))
    mine.merge(fragment)
    if mine.clock == clock { return }
    records.insert(location.record)
    if mine.shown(in: fragment.state) == before { return }
    changedFields.insert(location)
    if let old {
      changes.append(Change(location: location, old: old, new: mine))
    }
  }

  private mutating func noteChange(
    _ before: FieldState, _ after: FieldState, _ location: Location,
    _ keepsValues: Bool
  ) {
    if after.shows(sameAs: before) { return }
    changedFields.insert(location)
    if keepsValues {
      changes.append(Change(location: location, old: before, new: after))
    }
  }

  private mutating func noteConflicts(
    _ before: FieldState, _ after: FieldState, _ location: Location
  ) {
    guard case .register(let before) = before,
      case .register(let after) = after
    else { return }
    noteConflictingPairs(
      Set(before.store.map(\.dot)), in: after.store, location)
  }

  /// Reports every pair of a sibling that was here and one that is new.
  ///
  /// Siblings are concurrent, or the join would have dropped one of them. Above
  /// the limits only pairs with the winner are reported: their number is linear
  /// in the size of the message, that of all pairs is quadratic.
  private mutating func noteConflictingPairs(
    _ old: Set<Dot>, in siblings: Siblings<Stamped>, _ location: Location
  ) {
    let new = siblings.filter { !old.contains($0.dot) }
    let kept = siblings.filter { old.contains($0.dot) }
    if new.count * kept.count <= MergeReport.pairLimit,
      conflicts.count < MergeReport.conflictLimit
    {
      for new in new {
        for kept in kept { note(local: kept, remote: new, location) }
      }
    } else if let winner = siblings.winner {
      let isNew = !old.contains(winner.dot)
      for other in isNew ? kept : new {
        note(
          local: isNew ? other : winner, remote: isNew ? winner : other,
          location)
      }
    }
  }

  /// The most pairs of writes to one field that are all reported: 32 writes
  /// that meet 32 others.
  static let pairLimit = 1_024

  /// The most pairs of all fields; above it, only those with the winner are
  /// reported.
  static let conflictLimit = 100_000

  /// Reports two concurrent writes, unless their values are equal.
  private mutating func note(
    local: Siblings<Stamped>.Element, remote: Siblings<Stamped>.Element,
    _ location: Location
  ) {
    let (x, y) = (Write(local), Write(remote))
    // Nobody could resolve a conflict in the library's own records.
    if x.value == y.value || BuiltIn.isBuiltIn(location.record.entity) {
      return
    }
    let localWins = (y.time, y.dot) < (x.time, x.dot)
    conflicts.append(
      WriteConflict(
        location: location, winner: localWins ? x : y,
        loser: localWins ? y : x, localWon: localWins,
        reason: x.time == y.time ? .device : .time))
  }
}

/// What is visible of a part of a field.
private enum ShownPart: Equatable {
  case count(Int64)
  case elements([Bool])
  /// How many entries each device has, and how many of them are cancelled.
  case entries([[UInt64]])
}

extension FieldState {
  /// What is visible where a fragment may have changed it.
  fileprivate func shown(in part: FieldState) -> ShownPart? {
    switch (self, part) {
    case (.counter, .counter): .count(count)
    case (.set(let field), .set(let part)):
      .elements(part.store.entries.map { field.store.contains($0.key) })
    case (.ledger(let field), .ledger(let part)):
      .entries(
        part.store.lines.keys.map { device in
          field.store.lines[device].map { [$0.count, $0.cancelled] } ?? []
        })
    default: nil
    }
  }
}

extension FieldState {
  /// The dots under which the two states hold different payloads.
  ///
  /// A set has none: under a dot it holds elements without payloads.
  func equivocations(with other: FieldState) -> [Dot] {
    switch (self, other) {
    case (.register(let a), .register(let b)):
      a.store.equivocations(with: b.store)
    case (.counter(let a), .counter(let b)):
      a.store.equivocations(with: b.store)
    case (.ledger(let a), .ledger(let b)): a.store.equivocations(with: b.store)
    case (.existence(let a), .existence(let b)):
      a.store.equivocations(with: b.store)
    default: []
    }
  }
}

extension Siblings {
  fileprivate func equivocations(with other: Siblings) -> [Dot] {
    var equivocations: [Dot] = []
    for theirs in other {
      if let mine = self[theirs.dot], mine != theirs {
        equivocations.append(theirs.dot)
      }
    }
    return equivocations
  }
}

extension Tally {
  fileprivate func equivocations(with other: Tally) -> [Dot] {
    other.entries.compactMap { theirs in
      let mine = entry(of: theirs.device)
      return theirs.sequence == mine.sequence && theirs != mine
        ? Dot(mine.device, mine.sequence) : nil
    }
  }
}

extension LedgerLines {
  fileprivate func equivocations(with other: LedgerLines) -> [Dot] {
    other.lines.flatMap { device, theirs in
      (lines[device].map(theirs.equivocations) ?? []).map { Dot(device, $0) }
    }
  }
}

extension DeviceEntries {
  fileprivate func equivocations(with other: DeviceEntries) -> [UInt64] {
    // Folded entries are gone; only those that neither has folded can differ.
    let start = max(folded, other.folded)
    let pairs = zip(
      tail.dropFirst(Int(clamping: start - folded)),
      other.tail.dropFirst(Int(clamping: start - other.folded)))
    return pairs.compactMap { $0 == $1 ? nil : $0.sequence }
  }
}
