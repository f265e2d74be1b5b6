// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change: its place, and one of three contents.
struct CodedChange: Codable {
  private let record: RecordID
  /// The field, or `nil` for the existence of the record.
  private let field: FieldKey?
  private let element: Value?
  private let save: UndoStep.Point
  private let siblings: CodedSiblings?
  private let existence: UndoStep.Existence?
  private let sums: CodedSums?

  init(_ place: UndoStep.Place, _ change: UndoStep.Change) {
    record = place.record
    field = place.field == .existence ? nil : place.field
    element = place.element
    save = change.save
    var (siblings, sums) = (nil as CodedSiblings?, nil as CodedSums?)
    var existence: UndoStep.Existence?
    switch change.before {
    case .existence(let content)?: existence = content
    case .sums(let own, let decisions)?:
      sums = CodedSums(own, from: change.position, decisions)
    case .value?, nil: siblings = CodedSiblings(change)
    }
    (self.siblings, self.sums, self.existence) = (siblings, sums, existence)
  }

  /// Returns the place of the change.
  func place(_ decoder: any Decoder) throws -> UndoStep.Place {
    guard record.entity.utf8.count <= Limits.nameBytes else {
      throw decoder.corrupted(
        "The name of an entity must have at most \(Limits.nameBytes) bytes.")
    }
    guard (element != nil) == (field?.kind.store.hasElements ?? false) else {
      throw decoder.corrupted(
        "A change must name an element if its field is a set.")
    }
    return UndoStep.Place(
      record: record, field: field ?? .existence, element: element)
  }

  /// Returns the change, whose content must match the kind of its field.
  func change(
    to place: UndoStep.Place, _ decoder: any Decoder
  ) throws -> UndoStep.Change {
    guard save.dot.sequence > 0 else {
      throw decoder.corrupted("Saves must be numbered from one.")
    }
    let empty = FieldState(place.field.kind).read {
      $0.undoContent(of: place.element, by: save.dot.device)
    }
    switch (field == nil ? nil : empty, siblings, sums, existence) {
    case (.siblings(let empty)?, let siblings?, nil, nil):
      return try siblings.change(of: empty.rule, by: save, decoder)
    case (.sums(let empty)?, nil, let sums?, nil):
      return try sums.change(of: empty, by: save, decoder)
    case (nil, nil, nil, let existence?):
      return try existence.change(by: save, decoder)
    default:
      throw decoder.corrupted(
        "A change of a register or a set must have \"siblings\" alone, one of a "
          + "counter or a ledger \"sums\", and one without a field "
          + "\"existence\".")
    }
  }
}
