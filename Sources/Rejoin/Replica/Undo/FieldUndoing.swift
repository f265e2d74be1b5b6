// SPDX-License-Identifier: Apache-2.0

/// The change to a field that undoes a save.
struct FieldUndoing {
  var edit: FieldEdit?
  var retraction: Retraction?
  /// Whether the record exists after the undo, or `nil` without a mark.
  private(set) var mark: Bool?
  /// The saves that the deletion of the record covers in addition to itself.
  private(set) var covered: VectorClock?
  /// Whether the deletion cannot be undone.
  private(set) var isFinal = false
  /// Whether the undo leaves a change of the field in place.
  var isLeft = false

  /// Whether the undo does not change the field.
  var isEmpty: Bool { edit == nil && retraction == nil && mark == nil }

  /// Adds the undo of a change, unless the change was superseded or removed.
  ///
  /// - Parameters:
  ///   - now: The current content of the place.
  ///   - field: The field that contains the place.
  ///   - device: The device that undoes the change.
  mutating func take(
    _ change: UndoStep.Change, of element: Value?, from now: PlaceContent,
    in field: FieldState, as device: DeviceID
  ) {
    switch (now, change.before) {
    case (.existence(let now), .existence(let existence)?):
      switch now.undoing(change, existence, as: device) {
      case .restoration(let dot, let needsMark):
        retraction = Retraction(dot: dot)
        mark = needsMark ? true : nil
      case .deletion(let saves, let isFinal, let isLeft):
        retraction = Retraction(dot: change.save.dot)
        (mark, covered, self.isFinal) = (false, saves, isFinal)
        self.isLeft = isLeft
      case .nothing(let isLeft): self.isLeft = isLeft
      }
    case (.field(.siblings(let now)), let before):
      take(change, over: before, of: element, from: now, in: field)
    case (.field(.sums(let now)), .sums(let own, let sums)?):
      let amounts = amounts(change, own, sums, now)
      if isLeft, amounts.allSatisfy({ $0.amount == 0 }) { return }
      restore(.amounts(amounts), in: field, as: device)
    default: isLeft = true
    }
  }

  /// Returns the amounts that undo the changes of a counter or a ledger.
  ///
  /// - Parameters:
  ///   - own: The opposites of the amounts that the save added.
  ///   - sums: The sums that the save cancelled, by device.
  ///   - now: The current sums. If more changes of a device are cancelled than
  ///     after the save, a later save cancelled the amounts that would return.
  private mutating func amounts(
    _ change: UndoStep.Change, _ own: [LedgerEdit.Entry],
    _ sums: [DeviceID: WideInt], _ now: UndoSums
  ) -> [LedgerEdit.Entry] {
    let now = now.clock
    let isThere = now[change.save.dot.device] < change.position
    if !isThere, !own.isEmpty { isLeft = true }
    var amount: WideInt = 0
    for (device, sum) in sums {
      if now[device] == change.cancelled[device] {
        amount += sum
      } else {
        isLeft = true
      }
    }
    // The sum of folded entries can be too large for a few new entries.
    guard amount.isWithin(WideInt(high: 4, low: 0)) else {
      isLeft = true
      return []
    }
    var amounts = isThere ? own : []
    if !sums.isEmpty { amounts.append(amount, memo: nil) }
    return amounts
  }

  /// Adds the edit that restores content, unless the edit would overflow.
  private mutating func restore(
    _ content: UndoRestoration, in field: FieldState, as device: DeviceID
  ) {
    guard let new = field.read({ $0.edit(restoring: content, by: device) })
    else { return isLeft = true }
    // Change the edit in place: a save may change many elements of one set.
    if edit == nil { edit = new } else { _ = edit?.append(new) }
  }

  private mutating func take(
    _ change: UndoStep.Change, over before: UndoStep.Before?,
    of element: Value?, from now: UndoSiblings, in field: FieldState
  ) {
    let there = Set(now.all.map(\.dot))
    let isThere = change.dot.map(there.contains) ?? true
    let others = there.subtracting(change.dot.map { [$0] } ?? [])
    var was: Value??
    var time: Timestamp?
    if case .value(let value, let since)? = before {
      (was, time) = (.some(value), since)
    }
    if isThere, let was, others.isSubset(of: change.beside) {
      retract(change.dot, element, at: time)
      restore(
        .value(was, element: element), in: field, as: change.save.dot.device)
    } else if isThere, let dot = change.dot {
      retract(dot, element)
    } else {
      // The place may show the earlier value anyway.
      let wasShown = was ?? UndoSiblings([], now.rule).value
      isLeft = isLeft || wasShown != now.value
    }
  }

  /// Removes the write or the mark that the save left, if it has a dot.
  ///
  /// - Parameters:
  ///   - element: The element of a set.
  ///   - time: The time of the restored write. With its old time, the write
  ///     keeps its rank among other writes.
  private mutating func retract(
    _ dot: Dot?, _ element: Value?, at time: Timestamp? = nil
  ) {
    // Change it in place: a save may change many elements of one set.
    if retraction == nil { retraction = Retraction() }
    if let element {
      retraction?.elements[element] = dot
    } else {
      retraction?.dot = dot
      retraction?.time = time
    }
  }
}
