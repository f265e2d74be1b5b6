// SPDX-License-Identifier: Apache-2.0

/// The content of a location that the undo of a save needs.
enum LocationContent {
  case field(UndoContent)
  case existence(ExistenceContent)
}

extension ReplicaState {
  /// Returns the position of the field that contains a location, or `nil` if
  /// its record or its field does not exist.
  func position(of location: UndoStep.Location) -> FieldPosition? {
    guard let record = positions[location.record] else { return nil }
    return names.number(of: location.key).map {
      FieldPosition(record: UInt32(record), name: $0)
    }
  }

  /// Returns the content of a location.
  func content(
    of location: UndoStep.Location, at position: FieldPosition?,
    deletion: DeletionRule
  ) -> LocationContent {
    guard let key = location.field else {
      let record = position.map { records[Int($0.record)] }
      return .existence(
        ExistenceContent(record ?? RecordState(location.record), deletion))
    }
    return .field(
      field(key, at: position).read {
        $0.undoContent(of: location.element, by: device)
      })
  }

  /// Returns a field, or an empty one if it does not exist.
  func field(_ key: FieldKey, at position: FieldPosition?) -> FieldState {
    position.flatMap { self[$0] } ?? FieldState(key.kind)
  }

  /// Returns the change that a save made in a location, or `nil` if the content
  /// did not change.
  func change(
    of location: UndoStep.Location, at position: FieldPosition?,
    since before: LocationContent, deletion: DeletionRule,
    by save: UndoStep.Point
  ) -> UndoStep.Change? {
    let after = content(of: location, at: position, deletion: deletion)
    let content: UndoStep.Content? =
      switch (before, after) {
      case (.existence(let before), .existence(let after)):
        before.change(to: after, by: save).map { .existence($0) }
      case (.field(.siblings(let before)), .field(.siblings(let after))):
        before.change(to: after, by: save).map { .writes($0) }
      case (.field(.sums(let before)), .field(.sums(let after))):
        .sums(
          // The save may be the first of a new device.
          before.of(save.dot.device).change(to: after, by: save) { before in
            field(location.key, at: position).read {
              $0.opposites(since: before)
            }
          })
      default: nil
      }
    return content.map { .init(location: location, save: save, content: $0) }
  }
}

extension UndoSiblings {
  fileprivate func change(
    to after: UndoSiblings, by save: UndoStep.Point
  ) -> UndoStep.Writes? {
    let kept = Set(after.all.map(\.dot))
    var gone = UndoSiblings(all.filter { !kept.contains($0.dot) }, rule)
    gone.isMoved = isMoved
    let isThere = kept.contains(save.dot)
    let isSuperseded = !gone.all.isEmpty || isMoved
    if !isThere, !isSuperseded { return nil }
    let before = UndoStep.Before(
      value: gone.value, time: rule == .latest ? gone.latest?.time : nil,
      dot: gone.decisive)
    return UndoStep.Writes(
      isThere: isThere, before: isSuperseded ? before : nil,
      others: kept.subtracting([save.dot]).sorted())
  }
}

extension UndoSums {
  /// Returns the sums for another device, which has no saves.
  fileprivate func of(_ device: DeviceID) -> UndoSums {
    if device == self.device { return self }
    return UndoSums(
      device: device, next: next.map { _ in 1 }, decisions: decisions)
  }

  /// - Parameter opposites: A closure that returns the opposites of the amounts
  ///   that the save added.
  fileprivate func change(
    to after: UndoSums, by save: UndoStep.Point,
    adding opposites: (UndoSums) -> [LedgerEdit.Entry]
  ) -> UndoStep.Sums {
    let changed = after.decisions.filter { $1 != decisions[$0] }
    return UndoStep.Sums(
      first: next ?? save.dot.sequence,
      amounts: opposites(self).map { .init(amount: $0.amount, memo: $0.memo) },
      decisions: changed.sorted { $0.key < $1.key }.map {
        .init(device: $0, before: decisions[$0], after: $1)
      })
  }
}

/// The change to a field that undoes a save.
package struct FieldReversal {
  package private(set) var edit: FieldEdit?
  package private(set) var retraction: Retraction?
  /// Whether the record exists after the undo, or `nil` without a mark.
  package private(set) var mark: Bool?
  /// The saves that the deletion of the record covers in addition to itself.
  package internal(set) var covered: VectorClock?
  /// Whether the deletion cannot be undone.
  package private(set) var isFinal = false
  /// Whether the undo leaves a change of the field in place.
  var isLeft = false

  /// Whether the undo does not change the field.
  package var isEmpty: Bool { edit == nil && retraction == nil && mark == nil }

  /// Adds the reversal of a change, unless the change was superseded or
  /// removed.
  ///
  /// - Parameters:
  ///   - now: The current content of the location.
  ///   - field: The field that contains the location.
  ///   - device: The device that undoes the change.
  mutating func revert(
    _ change: UndoStep.Change, from now: LocationContent, in field: FieldState,
    as device: DeviceID
  ) {
    switch (now, change.content) {
    case (.existence(let now), .existence(let existence)):
      switch now.reversal(of: existence, by: change.save.dot, as: device) {
      case .restoration(let needsMark):
        retraction = Retraction(dot: change.save.dot)
        mark = needsMark ? true : nil
      case .deletion(let saves, let isFinal, let isLeft):
        retraction = Retraction(dot: change.save.dot)
        (mark, covered, self.isFinal) = (false, saves, isFinal)
        self.isLeft = isLeft
      case .nothing(let isLeft): self.isLeft = isLeft
      }
    case (.field(.siblings(let now)), .writes(let writes)):
      revert(writes, of: change, from: now, in: field)
    case (.field(.sums(let now)), .sums(let sums)):
      guard let turns = now.turns(reverting: sums.decisions),
        sums.amounts.isEmpty || now.contains(sums, by: change.save.dot.device)
      else { return isLeft = true }
      if !sums.amounts.isEmpty {
        let amounts = sums.amounts.map {
          LedgerEdit.Entry(amount: $0.amount, memo: $0.memo)
        }
        restore(.amounts(amounts), in: field, as: device)
      }
      if !isLeft, !turns.isEmpty { retraction = Retraction(turns: turns) }
    default: isLeft = true
    }
  }

  private mutating func revert(
    _ writes: UndoStep.Writes, of change: UndoStep.Change,
    from now: UndoSiblings, in field: FieldState
  ) {
    let element = change.location.element
    let there = Set(now.all.map(\.dot))
    let isThere = change.dot.map(there.contains) ?? true
    let others = there.subtracting(change.dot.map { [$0] } ?? [])
    if isThere, let before = writes.before, others.isSubset(of: writes.others) {
      retract(change.dot, element, at: before.time)
      restore(
        .value(before.value, element: element), in: field,
        as: change.save.dot.device)
    } else if isThere, let dot = change.dot {
      retract(dot, element)
    } else {
      // The location may show the earlier value anyway.
      let old = writes.before?.value ?? UndoSiblings([], now.rule).value
      isLeft = isLeft || old != now.value
    }
  }

  /// Adds the edit that restores content, unless the edit would overflow.
  private mutating func restore(
    _ content: UndoRestoration, in field: FieldState, as device: DeviceID
  ) {
    guard
      let new = field.read({ $0.edit(restoring: content, by: device) })?
        .canonical
    else { return isLeft = true }
    // Change the edit in place: a save may change many elements of one set.
    if edit == nil { edit = new } else { _ = edit?.append(new) }
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
  /// Returns the decisions that turn those of a save back, or `nil` if a later
  /// save changed one of them, or if no save can have made them.
  fileprivate func turns(
    reverting changes: [UndoStep.Decision]
  ) -> [DeviceID: Cancellation]? {
    var turns: [DeviceID: Cancellation] = [:]
    for change in changes {
      let before = change.before ?? Cancellation()
      guard decisions[change.device] == change.after,
        before < change.after, allows(before),
        let turned = change.after.turned(to: before)
      else { return nil }
      turns[change.device] = turned
    }
    return turns
  }

  /// Returns whether the amounts that a device added are not canceled.
  fileprivate func contains(_ sums: UndoStep.Sums, by device: DeviceID) -> Bool
  {
    (decisions[device] ?? Cancellation()).canceled < sums.first
  }
}
