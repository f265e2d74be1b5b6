// SPDX-License-Identifier: Apache-2.0

/// The content that a save is about to change.
struct ContentBefore {
  private struct Content {
    let location: UndoStep.Location
    /// The number of the field.
    let name: UInt32
    /// The position of the record, or `nil` if the save creates it.
    let record: Int?
    let content: LocationContent

    func position(of record: Int?) -> FieldPosition? {
      record.map { FieldPosition(record: UInt32($0), name: name) }
    }
  }

  /// The content of each location, nearly always in the order of the locations.
  ///
  /// No location comes twice.
  private var contents: [Content] = []
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
    let position = record.position ?? state.positions[id]
    let existence = position.map { state.records[$0] } ?? RecordState(id)
    contents.append(
      Content(
        location: .init(record: id, field: nil), name: 0, record: position,
        content: .existence(
          ExistenceContent(existence, schema.deletion(of: id.entity)))))
    let fields =
      position.map { state.fieldsToChange(record, at: $0) }
      ?? record.edits.entries.map { ($0.key, $0.content) }
    for (name, edit) in fields {
      let key = state.names[name]
      let field = state.field(
        key, at: position.map { .init(record: UInt32($0), name: name) })
      let save = EditContext(
        edit: edit, dot: Dot(state.device, 0), time: .zero,
        observed: record.observed[key], drops: record.drops,
        retraction: record.retractions[name])
      let moved = moved(by: edit, to: field)
      func add(_ element: Value?, _ content: UndoContent) {
        contents.append(
          Content(
            location: .init(record: id, field: key, element: element),
            name: name, record: position, content: .field(content)))
      }
      for element in field.read({ $0.elements(changedBy: save) })
      where moved.isEmpty || !moved.contains(element) {
        add(
          element,
          field.read { $0.undoContent(of: element, by: state.device) })
      }
      for element in moved {
        var content = UndoSiblings([], .any)
        content.isMoved = true
        add(element, .siblings(content))
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

  /// Returns the step of a save.
  ///
  /// - Parameters:
  ///   - state: The replica after the save.
  ///   - dot: The dot of the save, or `nil` if nothing was saved.
  func step(to state: ReplicaState, by dot: Dot?) -> UndoStep {
    var step = UndoStep(dot: dot, undone: undone)
    guard let dot else { return step }
    let save = UndoStep.Point(
      dot: dot, digest: state.version[dot.device].digest)
    step.changes.reserveCapacity(contents.count)
    var new: (id: RecordID, position: Int?)?
    for content in contents {
      let id = content.location.record
      if content.record == nil, new?.id != id {
        new = (id, state.positions[id])
      }
      let change = state.change(
        of: content.location,
        at: content.position(of: content.record ?? new?.position),
        since: content.content, deletion: schema.deletion(of: id.entity),
        by: save)
      if let change { step.changes.append(change) }
    }
    let isSorted = zip(step.changes, step.changes.dropFirst())
      .allSatisfy { $0.location < $1.location }
    if !isSorted { step.changes.sort { $0.location < $1.location } }
    return step
  }
}
