// SPDX-License-Identifier: Apache-2.0

/// What undoing a save does to a field.
struct FieldUndoing {
  private let kind: FieldKind
  var edit: FieldEdit?
  var retraction: Retraction?
  /// Whether something stays as it is.
  var isLeft: Bool

  init(_ kind: FieldKind, isLeft: Bool = false) {
    (self.kind, self.isLeft) = (kind, isLeft)
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { edit == nil && retraction == nil }

  /// Adds what takes a change back, if it is still there.
  mutating func take(
    _ change: SaveUndo.Change, of element: Value?, from now: PlaceContent,
    as device: DeviceID
  ) {
    switch (now, change.before) {
    case (.siblings(let now), let before):
      take(change, over: before, of: element, from: now)
    case (.tally(let tally), .amount(let amount)?):
      guard let dot = change.dot,
        tally.cancelled.entry(of: dot.device)?.sequence ?? 0 < dot.sequence,
        let increments = UInt64(exactly: max(amount, 0)),
        let decrements = UInt64(exactly: max(-amount, 0)),
        tally.canAdd(increments, decrements, by: device)
      else { return isLeft = true }
      var opposite = CounterEdit()
      (opposite.increments, opposite.decrements) = (increments, decrements)
      edit = .count(opposite)
    case (.ledger(let ledger), .entries(let entries)?):
      guard let dot = change.dot,
        ledger.lines[dot.device]?.cancelled ?? 0 < change.line
      else { return isLeft = true }
      var opposite = LedgerEdit()
      for entry in entries { opposite.append(entry.amount, memo: entry.memo) }
      edit = .append(opposite)
    default: isLeft = true
    }
  }

  private mutating func take(
    _ change: SaveUndo.Change, over before: SaveUndo.Before?,
    of element: Value?, from now: PlaceSiblings
  ) {
    let there = Set(now.all.map(\.dot))
    let isThere = change.dot.map(there.contains) ?? true
    let others = there.subtracting(change.dot.map { [$0] } ?? [])
    let was: Value?? =
      if case .value(let value)? = before { .some(value) } else { nil }
    if isThere, let was, others.isSubset(of: change.beside) {
      put(was, over: change.dot, element)
    } else if isThere, let dot = change.dot {
      put(nil, over: dot, element)
    } else {
      // It may be shown all the same.
      let wasShown = was ?? PlaceSiblings([], now.rule).value
      isLeft = isLeft || wasShown != now.value
    }
  }

  /// Replaces what the save has left, which is under a dot, if there is anything.
  ///
  /// - Parameter value: `nil` if nothing takes its place.
  private mutating func put(_ value: Value??, over dot: Dot?, _ element: Value?)
  {
    if kind == .lww { return edit = .write(value ?? nil) }
    var retraction = retraction ?? Retraction()
    if let element {
      retraction.elements[element] = dot
      if let value {
        var members = SetEdit()
        if case .members(let edit) = edit { members = edit }
        edit = nil
        members.members[element] = value == .bool(true)
        edit = .members(members)
      }
    } else {
      retraction.dot = dot
      if let value { edit = .write(value) }
    }
    self.retraction = retraction
  }
}
