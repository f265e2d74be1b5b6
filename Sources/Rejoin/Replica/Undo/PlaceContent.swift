// SPDX-License-Identifier: Apache-2.0

/// The content of a place that the undo of a save needs.
enum PlaceContent {
  case field(UndoContent)
  case existence(PlaceExistence)
}

/// A place, and where a replica keeps its record and its field.
struct FoundPlace {
  var place: UndoStep.Place
  /// The number of the field, or `nil` if no record has the field.
  let field: UInt32?
  /// The position of the record, or `nil` if the record does not exist.
  var position: Int?
}

extension ReplicaState {
  /// Looks up the record and the field of a place.
  func find(_ place: UndoStep.Place) -> FoundPlace {
    FoundPlace(
      place: place, field: names.number(of: place.field),
      position: positions[place.record])
  }

  /// Returns the content of a place.
  func content(of found: FoundPlace, deletion: DeletionRule) -> PlaceContent {
    let place = found.place
    guard place.field == .existence else {
      return .field(
        field(at: found).read {
          $0.undoContent(of: place.element, by: device)
        })
    }
    let record =
      found.position.map { records[$0] } ?? RecordState(place.record)
    return .existence(PlaceExistence(record, deletion))
  }

  /// Returns the field that contains a place.
  func field(at found: FoundPlace) -> FieldState {
    guard let position = found.position, let field = found.field,
      let state = records[position][field]
    else { return FieldState(found.place.field.kind) }
    return state
  }

  /// Returns the change that a save made in a place, or `nil` if the place did
  /// not change.
  func change(
    at found: FoundPlace, since before: PlaceContent,
    deletion: DeletionRule, by save: UndoStep.Point
  ) -> UndoStep.Change? {
    switch (before, content(of: found, deletion: deletion)) {
    case (.existence(let before), .existence(let after)):
      return before.change(to: after, by: save)
    case (.field(.siblings(let before)), .field(.siblings(let after))):
      return before.change(to: after, by: save)
    case (.field(.sums(let before)), .field(.sums(let after))):
      // The save may be the first of a new device.
      let before = before.of(save.dot.device)
      let opposites = field(at: found).read { $0.opposites(since: before) }
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
      superseded: gone.decisive, beside: kept.subtracting([save.dot]))
  }
}

extension UndoSums {
  /// Returns the sums for another device, which has no saves.
  fileprivate func of(_ device: DeviceID) -> UndoSums {
    if device == self.device { return self }
    return UndoSums(
      device: device, next: next.map { _ in 1 }, decisions: decisions)
  }

  /// - Parameter opposites: The opposites of the amounts that the save added.
  fileprivate func change(
    to after: UndoSums, adding opposites: [LedgerEdit.Entry],
    by save: UndoStep.Point
  ) -> UndoStep.Change? {
    var changed: [DeviceID: UndoStep.Decision] = [:]
    for (device, decision) in after.decisions {
      let old = decisions[device] ?? Cancellation()
      if decision != old {
        changed[device] = UndoStep.Decision(before: old, after: decision)
      }
    }
    return UndoStep.Change(
      save: save, position: next ?? save.dot.sequence,
      before: .sums(opposites, changed), superseded: nil)
  }
}
