// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change: its place, and one of three contents.
struct CodedChange: Codable {
  let record: RecordID
  /// The field, or `nil` for the existence of the record.
  let field: FieldKey?
  let element: Value?
  let save: UndoStep.Point
  var siblings: CodedSiblings?
  var existence: UndoStep.Existence?
  var sums: CodedSums?

  /// Creates a change whose content is not yet set.
  init(
    _ record: RecordID, _ field: FieldKey?, _ element: Value?,
    by save: UndoStep.Point
  ) {
    (self.record, self.field) = (record, field)
    (self.element, self.save) = (element, save)
  }

  init(_ place: UndoStep.Place, _ change: UndoStep.Change) {
    self.init(
      place.record, place.field == .existence ? nil : place.field,
      place.element, by: change.save)
    switch change.before {
    case .existence(let content)?: existence = content
    case .sums(let own, let decisions)?:
      sums = CodedSums(own, from: change.position, decisions)
    case .value?, nil: siblings = CodedSiblings(change)
    }
  }

  /// Returns the place of the change.
  func place() throws(UndoFault) -> UndoStep.Place {
    try require(
      record.entity.utf8.count <= Limits.nameBytes,
      "The name of an entity must have at most \(Limits.nameBytes) bytes.")
    try require(
      (element != nil) == (field?.kind.store.hasElements ?? false),
      "A change must name an element if its field is a set.")
    return UndoStep.Place(
      record: record, field: field ?? .existence, element: element)
  }

  /// Returns the change, whose content must match the kind of its field.
  func change(
    to place: UndoStep.Place
  ) throws(UndoFault) -> UndoStep.Change {
    try require(
      save.dot.sequence > 0, "Saves must be numbered from one.")
    let empty = FieldState(place.field.kind).read {
      $0.undoContent(of: place.element, by: save.dot.device)
    }
    switch (field == nil ? nil : empty, siblings, sums, existence) {
    case (.siblings(let empty)?, let siblings?, nil, nil):
      return try siblings.change(of: empty.rule, by: save)
    case (.sums(let empty)?, nil, let sums?, nil):
      return try sums.change(of: empty, by: save)
    case (nil, nil, nil, let existence?):
      return try existence.checkedChange(by: save)
    default:
      throw UndoFault(
        "A change of a register or a set must have \"siblings\" alone, one of a "
          + "counter or a ledger \"sums\", and one without a field "
          + "\"existence\".")
    }
  }
}
