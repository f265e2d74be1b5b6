// SPDX-License-Identifier: Apache-2.0

/// The content of a place that the undo of a save needs.
enum PlaceContent {
  case field(UndoContent)
  case existence(PlaceExistence)
}

extension ReplicaState {
  /// Returns the content of a place.
  func content(
    of place: UndoStep.Place, deletion: DeletionRule
  ) -> PlaceContent {
    guard place.field == .existence else {
      return .field(
        field(at: place).read {
          $0.undoContent(of: place.element, by: device)
        })
    }
    let record =
      positions[place.record].map { records[$0] } ?? RecordState(place.record)
    return .existence(PlaceExistence(record, deletion))
  }

  /// Returns the field that contains a place.
  func field(at place: UndoStep.Place) -> FieldState {
    state(of: place.field, in: place.record) ?? FieldState(place.field.kind)
  }

  /// Returns the change that a save made in a place, or `nil` if the place did
  /// not change.
  func change(
    at place: UndoStep.Place, since before: PlaceContent,
    deletion: DeletionRule, by save: UndoStep.Point
  ) -> UndoStep.Change? {
    switch (before, content(of: place, deletion: deletion)) {
    case (.existence(let before), .existence(let after)):
      return before.change(to: after, by: save)
    case (.field(.siblings(let before)), .field(.siblings(let after))):
      return before.change(to: after, by: save)
    case (.field(.sums(let before)), .field(.sums(let after))):
      // The save may be the first of a new device.
      let before = before.of(save.dot.device)
      let opposites = field(at: place).read { $0.opposites(since: before) }
      return before.change(to: after, adding: opposites, by: save)
    default: return nil
    }
  }
}

extension UndoSiblings {
  fileprivate func change(
    to after: UndoSiblings, by save: UndoStep.Point
  ) -> UndoStep.Change? {
    let kept = Set(after.all.map(\.dot))
    var gone = UndoSiblings(all.filter { !kept.contains($0.dot) }, rule)
    gone.isMoved = isMoved
    let isThere = kept.contains(save.dot)
    if !isThere, gone.all.isEmpty, !isMoved { return nil }
    return UndoStep.Change(
      save: save, isThere: isThere,
      before: gone.all.isEmpty && !isMoved
        ? nil
        : .value(
          gone.value, at: rule == .latest ? gone.latest?.time : nil),
      superseded: .dot(gone.decisive), beside: kept.subtracting([save.dot]))
  }
}

extension UndoSums {
  /// Returns the sums for another device, which has no saves.
  fileprivate func of(_ device: DeviceID) -> UndoSums {
    if device == self.device { return self }
    return UndoSums(
      device: device, next: next.map { _ in 1 }, cancelled: cancelled)
  }

  /// - Parameter opposites: The opposites of the amounts that the save added.
  fileprivate func change(
    to after: UndoSums, adding opposites: [LedgerEdit.Entry],
    by save: UndoStep.Point
  ) -> UndoStep.Change? {
    var sums: [DeviceID: WideInt] = [:]
    for (device, part) in after.cancelled {
      let old = cancelled[device] ?? (0, 0)
      if part != old { sums[device] = part.sum - old.sum }
    }
    return UndoStep.Change(
      save: save, position: next ?? save.dot.sequence,
      before: .sums(opposites, cancelled: sums),
      superseded: .sums(cancelled: clock, all: after.clock),
      cancelled: after.clock)
  }
}
