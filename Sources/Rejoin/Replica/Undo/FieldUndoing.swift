// SPDX-License-Identifier: Apache-2.0

/// The change that the undo of a save makes to a field.
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

  /// Adds the undo of a change, unless the change was superseded or removed.
  ///
  /// - Parameters:
  ///   - now: The content of the place.
  ///   - field: The field that the place is, or is a part of.
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
      case .deletion(let saves, let isPurge, let isLeft):
        retraction = Retraction(dot: change.save.dot)
        (mark, covered, self.isPurge) = (false, saves, isPurge)
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
  ///   - sums: The sum that the save cancelled, by device.
  ///   - now: The present sums. If more is cancelled of a device than after the save,
  ///     a later save cancelled the amounts that would come back.
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
    // Folded entries may have a sum that no few entries have.
    guard amount.isWithin(WideInt(high: 4, low: 0)) else {
      isLeft = true
      return []
    }
    var amounts = isThere ? own : []
    if !sums.isEmpty { amounts.append(amount, memo: nil) }
    return amounts
  }

  /// Adds the edit that brings content back, unless the edit would overflow.
  private mutating func restore(
    _ content: UndoRestoration, in field: FieldState, as device: DeviceID
  ) {
    guard let new = field.read({ $0.edit(restoring: content, by: device) })
    else { return isLeft = true }
    // Changed in place, because a save may change many elements of one set.
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
      // It may be shown all the same.
      let wasShown = was ?? UndoSiblings([], now.rule).value
      isLeft = isLeft || wasShown != now.value
    }
  }

  /// Removes the write or the mark that the save left under a dot, if there is one.
  ///
  /// - Parameters:
  ///   - element: The element of a set.
  ///   - time: The time of the write that comes back. With its old time, it keeps its
  ///     rank among other writes.
  private mutating func retract(
    _ dot: Dot?, _ element: Value?, at time: Timestamp? = nil
  ) {
    // Changed in place, because a save may change many elements of one set.
    if retraction == nil { retraction = Retraction() }
    if let element {
      retraction?.elements[element] = dot
    } else {
      retraction?.dot = dot
      retraction?.time = time
    }
  }
}
