// SPDX-License-Identifier: Apache-2.0

/// The content of the places that a save is about to change.
struct PlacesBefore {
  /// The content of each place, nearly always in the order of the places.
  ///
  /// No place comes twice.
  private var contents: [(place: FoundPlace, content: PlaceContent)] = []
  private let schema: Schema
  private let undone: Dot?

  init(_ transaction: Transaction) {
    schema = transaction.replica.schema
    undone = transaction.undone
    let state = transaction.replica.current
    let records = transaction.pending.entries
    contents.reserveCapacity(2 * records.count)
    let order = RecordOrder.indices(records.count) { records[$0].key }
    for i in records.indices {
      let entry = records[order.map { Int($0[i]) } ?? i]
      add(entry.content, of: entry.key, in: state)
    }
  }

  private mutating func add(
    _ record: PendingRecord, of id: RecordID, in state: ReplicaState
  ) {
    let rule = schema.deletion(of: id.entity)
    let position = record.position ?? state.positions[id]
    let existence = UndoStep.Place(record: id, field: .existence)
    add(
      FoundPlace(place: existence, field: 0, position: position), in: state,
      rule)
    let fields =
      position.map { state.fieldsToChange(record, at: $0) }
      ?? record.edits.entries.map { ($0.key, $0.content) }
    for (name, edit) in fields {
      var found = FoundPlace(
        place: UndoStep.Place(record: id, field: state.names[name]),
        field: name, position: position)
      let field = state.field(at: found)
      let save = EditContext(
        edit: edit, dot: Dot(state.device, 0), time: .zero,
        observed: record.observed[found.place.field], drops: record.drops,
        retraction: record.retractions[name])
      let moved = moved(by: edit, to: field)
      for element in field.read({ $0.elements(changedBy: save) })
      where moved.isEmpty || !moved.contains(element) {
        found.place.element = element
        add(found, in: state, rule)
      }
      for element in moved {
        found.place.element = element
        var content = UndoSiblings([], .any)
        content.isMoved = true
        contents.append((found, .field(.siblings(content))))
      }
    }
  }

  /// Returns the elements of an older field that an edit of a set hides, which
  /// only the first edit of a set does.
  private func moved(
    by edit: FieldEdit?, to field: FieldState
  ) -> Set<Value?> {
    guard case .members(let edit) = edit, field.clock.isEmpty else { return [] }
    return Set(edit.moved.map(Optional.some))
  }

  private mutating func add(
    _ place: FoundPlace, in state: ReplicaState, _ rule: DeletionRule
  ) {
    contents.append((place, state.content(of: place, deletion: rule)))
  }

  /// Returns the changes of a save.
  ///
  /// - Parameters:
  ///   - stored: The replica after the save.
  ///   - dot: The dot of the save, or `nil` if nothing was saved.
  func changes(to state: ReplicaState, by dot: Dot?) -> UndoStep {
    var undo = UndoStep(dot: dot, undone: undone)
    guard let dot else { return undo }
    let save = UndoStep.Point(
      dot: dot, digest: state.version[dot.device].digest)
    var changes = UndoChanges()
    changes.reserve(contents.count)
    var new: (id: RecordID, position: Int?)?
    for (var place, before) in contents {
      let id = place.place.record
      if place.position == nil {
        // The save created the record.
        if new?.id != id { new = (id, state.positions[id]) }
        place.position = new?.position
      }
      let change = state.change(
        at: place, since: before, deletion: schema.deletion(of: id.entity),
        by: save)
      if let change { changes.append(change, at: place.place) }
    }
    changes.sort()
    undo.changes = changes
    return undo
  }
}
