// SPDX-License-Identifier: Apache-2.0

/// Writes an undo step, with each name, device, save and time once.
///
/// An item is written when the step first refers to it. Its index follows from
/// the order of these references.
struct UndoStepWriter {
  /// The items that were written.
  private struct Table<Item: Hashable> {
    private var indices: [Item: Int] = [:]
    /// The last item, because items come in runs.
    private var last: (item: Item, index: Int)?

    /// Returns the index of an item, and whether the item must be written.
    mutating func index(of item: Item) -> (Int, isNew: Bool) {
      if let last, last.item == item { return (last.index, false) }
      let new = indices.count
      let index = { (index: inout Int) in index }(&indices[item, default: new])
      last = (item, index)
      return (index, index == new)
    }
  }

  var out = WireWriter(.undoStep)
  private var entities = Table<SchemaName>()
  private var fields = Table<FieldKey>()
  private var devices = Table<DeviceID>()
  private var saves = Table<UndoStep.Point>()
  private var times = Table<Timestamp>()

  mutating func write(_ step: UndoStep) {
    out.byte(step.undone == nil ? 0 : 1)
    if let undone = step.undone { dot(undone) }
    out.varint(step.changes.count)
    var last: RecordID?
    for (place, change) in step.changes {
      head(of: place, after: last)
      last = place.record
      save(change.save)
      content(of: change)
    }
  }

  /// Writes the place of a change, and its record unless it is the last one.
  private mutating func head(of place: UndoStep.Place, after last: RecordID?) {
    let isNewRecord = place.record != last
    var (field, isNewField) = (0, false)
    if place.field != .existence {
      (field, isNewField) = fields.index(of: place.field)
      field += 1
    }
    out.varint(field << 1 | (isNewRecord ? 1 : 0))
    if isNewRecord { record(place.record) }
    if isNewField { define(place.field) }
    if let element = place.element { out.value(element) }
  }

  private mutating func record(_ id: RecordID) {
    let (index, isNew) = entities.index(of: SchemaName(id.entity))
    out.varint(index)
    if isNew { text(id.entity) }
    text(id.key)
  }

  private mutating func define(_ field: FieldKey) {
    out.pair(
      field.kind.order + (field.variant == nil ? 0 : 8), field.name.utf8.count)
    out.text(field.name)
    if let variant = field.variant { text(variant) }
  }

  private mutating func text(_ text: String) {
    out.varint(text.utf8.count)
    out.text(text)
  }

  private mutating func device(_ device: DeviceID) {
    let (index, isNew) = devices.index(of: device)
    out.varint(index)
    if isNew { out.device(device) }
  }

  private mutating func dot(_ dot: Dot) {
    device(dot.device)
    out.varint(dot.sequence)
  }

  private mutating func dots(_ dots: [Dot]) {
    out.varint(dots.count)
    for dot in dots { self.dot(dot) }
  }

  private mutating func save(_ save: UndoStep.Point) {
    let (index, isNew) = saves.index(of: save)
    out.varint(index)
    guard isNew else { return }
    dot(save.dot)
    out.fixed(save.digest)
  }

  private mutating func time(_ time: Timestamp) {
    let (index, isNew) = times.index(of: time)
    out.varint(index)
    if isNew { out.fixed(time.rawValue) }
  }

  private mutating func clock(_ clock: VectorClock) {
    out.varint(clock.entries.count)
    for entry in clock.entries {
      device(entry.device)
      out.varint(entry.count - 1)
    }
  }

  private mutating func content(of change: UndoStep.Change) {
    switch change.before {
    case .existence(let existence)?: write(existence)
    case .sums(let own, let decisions)?:
      write(CodedSums(own, from: change.position, decisions))
    case .value?, nil: write(CodedSiblings(change))
    }
  }

  private mutating func write(_ siblings: CodedSiblings) {
    typealias Flags = SiblingsFlags
    let before = siblings.before
    out.byte(
      (siblings.isThere ? Flags.isThere : 0)
        | (before != nil ? Flags.before : 0)
        | (before?.time != nil ? Flags.time : 0)
        | (before?.dot != nil ? Flags.dot : 0)
        | (siblings.beside.isEmpty ? 0 : Flags.beside))
    if let before {
      out.value(before.value)
      if let time = before.time { self.time(time) }
      if let dot = before.dot { self.dot(dot) }
    }
    if !siblings.beside.isEmpty { dots(siblings.beside) }
  }

  private mutating func write(_ existence: UndoStep.Existence) {
    typealias Flags = ExistenceFlags
    out.byte(
      (existence.existed ? Flags.existed : 0)
        | (existence.isThere ? Flags.isThere : 0)
        | (existence.isDeletion ? Flags.isDeletion : 0)
        | (existence.wasFinal ? Flags.wasFinal : 0)
        | (existence.covered != nil ? Flags.covered : 0)
        | (existence.superseded != nil ? Flags.superseded : 0)
        | (existence.outlived != nil ? Flags.outlived : 0))
    if let covered = existence.covered { clock(covered) }
    clock(existence.uncovered)
    if let superseded = existence.superseded { dot(superseded) }
    if let outlived = existence.outlived { dots(outlived) }
    out.varint(existence.before)
    out.varint(existence.after)
  }

  private mutating func write(_ sums: CodedSums) {
    out.varint(sums.first)
    out.varint(sums.amounts.count)
    for amount in sums.amounts {
      out.signed(amount.amount)
      out.value(amount.memo)
    }
    out.varint(sums.decisions.count)
    for decision in sums.decisions {
      device(decision.device)
      out.varint(decision.before?.decided ?? 0)
      if let before = decision.before { out.cancellation(before) }
      out.varint(decision.after.decided)
      out.cancellation(decision.after)
    }
  }
}
