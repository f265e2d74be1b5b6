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
    case (.field(.sums(let now)), .sums(let own, let decisions)?):
      guard let turns = turns(of: decisions, now),
        own.isEmpty || now.contains(change)
      else { return isLeft = true }
      if !own.isEmpty { restore(.amounts(own), in: field, as: device) }
      if !isLeft, !turns.isEmpty { retraction = Retraction(turns: turns) }
    default: isLeft = true
    }
  }

  /// Returns the decisions that turn those of a save back, or `nil` if a later
  /// save changed one of them.
  private func turns(
    of decisions: [DeviceID: UndoStep.Decision], _ now: UndoSums
  ) -> [DeviceID: Cancellation]? {
    var turns: [DeviceID: Cancellation] = [:]
    for (device, change) in decisions {
      guard now.decisions[device] == change.after,
        let turned = change.after.turned(to: change.before)
      else { return nil }
      turns[device] = turned
    }
    return turns
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

extension UndoSums {
  /// Returns whether the amounts that a save added are not canceled.
  fileprivate func contains(_ change: UndoStep.Change) -> Bool {
    let decision = decisions[change.save.dot.device] ?? Cancellation()
    return decision.canceled < change.position
  }
}
