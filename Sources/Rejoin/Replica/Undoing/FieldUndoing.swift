// SPDX-License-Identifier: Apache-2.0

/// What undoing a save does to a field.
struct FieldUndoing {
  var edit: FieldEdit?
  var retraction: Retraction?
  /// Whether the record exists after the undo, or `nil` without a mark.
  private(set) var mark: Bool?
  /// The saves that the deletion of the record covers in addition to itself.
  private(set) var covered: VectorClock?
  /// Whether the deletion is marked as a purge.
  private(set) var isPurge = false
  /// Whether something stays as it is.
  var isLeft = false

  /// Whether there is nothing to do.
  var isEmpty: Bool { edit == nil && retraction == nil && mark == nil }

  /// Adds what takes a change back, if it is still there.
  mutating func take(
    _ change: SaveUndo.Change, of element: Value?, from now: PlaceContent,
    as device: DeviceID
  ) {
    switch (now, change.before) {
    case (.existence(let now), .existence(let existence)?):
      switch now.undoing(change, existence, as: device) {
      case .restoration(let dot, let needsMark):
        retraction = Retraction(dot: dot)
        mark = needsMark ? true : nil
      case .deletion(let saves, let isPurge, let isLeft):
        retraction = Retraction(dot: change.save.dot)
        (mark, covered, self.isPurge) = (false, saves, isPurge)
        self.isLeft = isLeft
      case .nothing(let isLeft): self.isLeft = isLeft
      }
    case (.siblings(let now), let before):
      take(change, over: before, of: element, from: now)
    case (.tally(let tally), .amount(let own, let sums)?):
      let now = VectorClock(tally.cancelled)
      let amount = sum(
        of: sums, ifStill: change.cancelled, now,
        own: own == 0
          || now[change.save.dot.device] < change.save.dot.sequence
          ? own : nil)
      guard let increments = UInt64(exactly: max(amount, 0)),
        let decrements = UInt64(exactly: max(-amount, 0)),
        tally.canAdd(increments, decrements, by: device)
      else { return isLeft = true }
      if isLeft, amount == 0 { return }
      var opposite = CounterEdit()
      (opposite.increments, opposite.decrements) = (increments, decrements)
      edit = .count(opposite)
    case (.ledger(let ledger), .entries(let own, let sums)?):
      let now = VectorClock(greatest: ledger.lines.mapValues(\.cancelled))
      let isThere = now[change.save.dot.device] < change.line
      let amount = sum(
        of: sums, ifStill: change.cancelled, now,
        own: isThere || own.isEmpty ? 0 : nil)
      // Folded entries may have a sum that no few entries have.
      guard amount.magnitude < 1 << 66 else { return isLeft = true }
      var entries = isThere ? own : []
      if !sums.isEmpty { entries.append(amount, memo: nil) }
      if isLeft, entries.allSatisfy({ $0.amount == 0 }) { return }
      var opposite = LedgerEdit()
      for entry in entries { opposite.append(entry.amount, memo: entry.memo) }
      edit = .append(opposite)
    default: isLeft = true
    }
  }

  /// What takes the changes of a counter or a ledger back.
  ///
  /// - Parameters:
  ///   - sums: What the save has cancelled of each device.
  ///   - cancelled: How much of each device was cancelled after the save.
  ///   - now: How much is cancelled now: where it is more, somebody has cancelled
  ///     what comes back as well.
  ///   - own: The opposite of what the save has added; `nil` if that is cancelled.
  private mutating func sum(
    of sums: [DeviceID: Int128], ifStill cancelled: VectorClock,
    _ now: VectorClock, own: Int128?
  ) -> Int128 {
    var sum = own ?? 0
    isLeft = isLeft || own == nil
    for (device, amount) in sums {
      if now[device] == cancelled[device] {
        sum += amount
      } else {
        isLeft = true
      }
    }
    return sum
  }

  private mutating func take(
    _ change: SaveUndo.Change, over before: SaveUndo.Before?,
    of element: Value?, from now: PlaceSiblings
  ) {
    let there = Set(now.all.map(\.dot))
    let isThere = change.dot.map(there.contains) ?? true
    let others = there.subtracting(change.dot.map { [$0] } ?? [])
    var was: Value??
    var time = Timestamp.zero
    if case .value(let value, let since)? = before {
      (was, time) = (.some(value), since)
    }
    if isThere, let was, others.isSubset(of: change.beside) {
      put(
        was, over: change.dot, element, at: now.rule == .latest ? time : nil)
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
  /// - Parameters:
  ///   - value: `nil` if nothing takes its place.
  ///   - dot: The dot.
  ///   - element: The element of a set.
  ///   - time: When the value was written that comes back: what it was shown before, or
  ///     hidden by, it still is.
  private mutating func put(
    _ value: Value??, over dot: Dot?, _ element: Value?,
    at time: Timestamp? = nil
  ) {
    // Changed in place, because a save may change many elements of one set.
    if retraction == nil { retraction = Retraction() }
    if let element {
      retraction?.elements[element] = dot
      if let value {
        var members = SetEdit()
        if case .members(let edit) = edit { members = edit }
        edit = nil
        members.members[element] = value == .bool(true)
        edit = .members(members)
      }
    } else {
      retraction?.dot = dot
      retraction?.time = time
      if let value { edit = .write(value) }
    }
  }
}

extension VectorClock {
  /// The last change of each device.
  fileprivate init(_ entries: [Tally.Entry]) {
    self.init()
    for entry in entries { insert(Dot(entry.device, entry.sequence)) }
  }
}
