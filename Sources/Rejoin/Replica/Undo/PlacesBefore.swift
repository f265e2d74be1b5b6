// SPDX-License-Identifier: Apache-2.0

/// The content of the places that a save is about to change.
struct PlacesBefore {
  private var contents: [UndoStep.Place: PlaceContent] = [:]
  private let schema: Schema
  private let undone: Dot?

  init(_ transaction: Transaction) {
    schema = transaction.replica.schema
    undone = transaction.undone
    let stored = transaction.replica.stored
    for entry in transaction.pending.entries {
      let (id, record) = (entry.key, entry.content)
      add(UndoStep.Place(record: id, field: .existence), in: stored)
      let fields =
        stored.positions[id].map { stored.fieldsToChange(record, at: $0) }
        ?? record.edits.entries.map { ($0.key, $0.content) }
      for (name, edit) in fields {
        var place = UndoStep.Place(record: id, field: stored.names[name])
        let save = EditContext(
          edit: edit, dot: Dot(stored.device, 0), time: .zero,
          observed: record.observed[place.field], drops: record.drops,
          retraction: record.retractions[name])
        for element in stored.field(at: place).read({
          $0.elements(changedBy: save)
        }) {
          place.element = element
          add(place, in: stored)
        }
        // Only the first edit of a set hides the elements of an older field.
        guard case .members(let edit) = edit,
          stored.field(at: place).clock.isEmpty
        else { continue }
        for element in edit.moved {
          place.element = element
          var content = UndoSiblings([], .any)
          content.isMoved = true
          contents[place] = .field(.siblings(content))
        }
      }
    }
  }

  private mutating func add(
    _ place: UndoStep.Place, in stored: ReplicaState
  ) {
    contents[place] = stored.content(
      of: place, deletion: schema.deletion(of: place.record.entity))
  }

  /// Returns the changes of a save.
  ///
  /// - Parameters:
  ///   - stored: The replica after the save.
  ///   - dot: The dot of the save, or `nil` if nothing was saved.
  func changes(to stored: ReplicaState, by dot: Dot?) -> UndoStep {
    var undo = UndoStep(dot: dot, undone: undone)
    guard let dot else { return undo }
    let save = UndoStep.Point(
      dot: dot, digest: stored.version[dot.device].digest)
    for (place, before) in contents {
      undo.changes[place] = stored.change(
        at: place, since: before,
        deletion: schema.deletion(of: place.record.entity), by: save)
    }
    return undo
  }
}
