// SPDX-License-Identifier: Apache-2.0

/// What is in the places that a save is about to change.
struct PlacesBefore {
  private var contents: [SaveUndo.Place: PlaceContent] = [:]
  private let schema: Schema
  private let undone: Dot?

  init(_ transaction: Transaction) {
    schema = transaction.replica.schema
    undone = transaction.undone
    let stored = transaction.replica.stored
    for entry in transaction.pending.entries {
      let (id, record) = (entry.key, entry.content)
      add(SaveUndo.Place(record: id, field: .existence), in: stored)
      let fields =
        stored.positions[id].map { stored.fieldsToChange(record, at: $0) }
        ?? record.edits.entries.map { ($0.key, $0.content) }
      for (name, edit) in fields {
        var place = SaveUndo.Place(record: id, field: stored.names[name])
        guard place.field.kind == .set else {
          add(place, in: stored)
          continue
        }
        for element in stored.elements(touchedBy: edit, on: name, of: record) {
          place.element = element
          add(place, in: stored)
        }
      }
    }
  }

  private mutating func add(
    _ place: SaveUndo.Place, in stored: StoredReplica
  ) {
    contents[place] = stored.content(
      of: place, deletion: schema.deletion(of: place.record.entity))
  }

  /// What a save has changed.
  ///
  /// - Parameters:
  ///   - stored: The replica after it.
  ///   - dot: The dot of the save; `nil` if there was none.
  func changes(to stored: StoredReplica, by dot: Dot?) -> SaveUndo {
    var undo = SaveUndo(dot: dot, undone: undone)
    guard let dot else { return undo }
    let save = SaveUndo.Point(
      dot: dot, digest: stored.version[dot.device].digest)
    for (place, before) in contents {
      let after = stored.content(
        of: place, deletion: schema.deletion(of: place.record.entity))
      undo.changes[place] = before.change(to: after, by: save)
    }
    return undo
  }
}

extension StoredReplica {
  /// The elements of a set whose marks an edit may change.
  fileprivate func elements(
    touchedBy edit: FieldEdit?, on name: UInt32, of record: PendingRecord
  ) -> Set<Value> {
    var edits = SetEdit()
    if case .members(let edit) = edit { edits = edit }
    var elements = Set(edits.members.keys)
    if edits.isCleared {
      let shown = record.observed[names[name]]?.elements
      elements.formUnion(shown ?? [])
    }
    if let retraction = record.retractions[name] {
      elements.formUnion(retraction.elements.keys)
    } else if record.drops || edits.isCleared,
      let position = record.position,
      let set = records[position][name]?.store(of: DotMap.self)
    {
      elements.formUnion(set.entries.map(\.key))
    }
    return elements
  }
}
