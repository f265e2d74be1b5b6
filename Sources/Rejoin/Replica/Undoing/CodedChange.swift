// SPDX-License-Identifier: Apache-2.0

/// The encoded form of a change of a save: its place, and one of four contents.
struct CodedChange: Codable {
  private let record: RecordID
  /// The field, or `nil` for the existence of the record.
  private let field: FieldKey?
  private let element: Value?
  private let save: SaveUndo.Point
  private let siblings: CodedSiblings?
  private let existence: SaveUndo.Existence?
  private let counter: CodedAmount?
  private let ledger: CodedEntries?

  init(_ place: SaveUndo.Place, _ change: SaveUndo.Change) {
    record = place.record
    field = place.field == .existence ? nil : place.field
    element = place.element
    save = change.save
    if case .existence(let content)? = change.before {
      existence = content
    } else {
      existence = nil
    }
    switch change.before {
    case .amount(let own, let sums)?:
      (siblings, ledger) = (nil, nil)
      counter = CodedAmount(own, .cancelled(sums, change))
    case .entries(let own, let sums)?:
      (siblings, counter) = (nil, nil)
      ledger = CodedEntries(own, from: change.line, .cancelled(sums, change))
    case .existence?: (siblings, counter, ledger) = (nil, nil, nil)
    case .value?, nil:
      (counter, ledger) = (nil, nil)
      siblings = CodedSiblings(change, to: place)
    }
  }

  /// The place of the change.
  func place(_ decoder: any Decoder) throws -> SaveUndo.Place {
    guard record.entity.utf8.count <= Limits.nameBytes else {
      throw decoder.corrupted(
        "The name of an entity must have at most \(Limits.nameBytes) bytes.")
    }
    guard (element != nil) == (field?.kind == .set) else {
      throw decoder.corrupted(
        "A change must name an element if its field is a set.")
    }
    return SaveUndo.Place(
      record: record, field: field ?? .existence, element: element)
  }

  /// The change, whose content must be that of its field's kind.
  func change(
    to place: SaveUndo.Place, _ decoder: any Decoder
  ) throws -> SaveUndo.Change {
    guard save.dot.sequence > 0 else {
      throw decoder.corrupted("Saves must be numbered from one.")
    }
    switch (place.field.kind, siblings, counter, ledger, existence) {
    case (.register, let siblings?, nil, nil, nil),
      (.set, let siblings?, nil, nil, nil):
      return try siblings.change(to: place, by: save, decoder)
    case (.counter, nil, let counter?, nil, nil):
      return try counter.change(by: save, decoder)
    case (.ledger, nil, nil, let ledger?, nil):
      return try ledger.change(by: save, decoder)
    case (.existence, nil, nil, nil, let existence?):
      return try existence.change(by: save, decoder)
    default:
      throw decoder.corrupted(
        "A change of a register or a set must have \"siblings\" alone, one of a "
          + "counter \"counter\", one of a ledger \"ledger\", and one without a "
          + "field \"existence\".")
    }
  }
}
