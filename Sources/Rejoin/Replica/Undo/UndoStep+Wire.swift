// SPDX-License-Identifier: Apache-2.0

extension UndoStep {
  /// Decodes the changes of a save.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that ``encoded()`` returned.
  ///   - dot: The save, which is not part of the bytes.
  ///   - name: The name for the menu, which is not part of the bytes.
  /// - Throws: ``WireError`` with the offset of the error.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  package init(
    decoding bytes: some Sequence<UInt8>, dot: Dot?, name: String?
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try UndoStepReader(bytes)
      return try reader.step(UndoStep(dot: dot, name: name))
    }
  }

  /// Returns the changes of the save as bytes, without its dot and its name.
  ///
  /// Steps with equal changes have equal bytes.
  package func encoded() -> [UInt8] {
    var writer = UndoStepWriter()
    writer.out.reserve(64 + 24 * changes.count)
    writer.write(self)
    return writer.out.sealed()
  }
}

/// The bits in the first byte of a change of a register or an element.
enum WritesFlags {
  static let isThere: UInt8 = 1
  static let before: UInt8 = 2
  static let time: UInt8 = 4
  static let dot: UInt8 = 8
  static let others: UInt8 = 16
}

/// The bits in the first byte of a change of a record's existence.
enum ExistenceFlags {
  static let existed: UInt8 = 1
  static let isThere: UInt8 = 2
  static let isDeletion: UInt8 = 4
  static let wasFinal: UInt8 = 8
  static let covered: UInt8 = 16
  static let superseded: UInt8 = 32
  static let outlived: UInt8 = 64
}

/// Writes an undo step, with each name, device, save and time once.
///
/// An item is written when the step first refers to it. Its index follows from
/// the order of these references.
private struct UndoStepWriter {
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
    for change in step.changes {
      head(of: change.location, after: last)
      last = change.location.record
      save(change.save)
      switch change.content {
      case .writes(let writes): write(writes)
      case .sums(let sums): write(sums)
      case .existence(let existence): write(existence)
      }
    }
  }

  /// Writes the location of a change, and its record unless it is the last one.
  private mutating func head(
    of location: UndoStep.Location, after last: RecordID?
  ) {
    let isNewRecord = location.record != last
    var (number, isNewField) = (0, false)
    if let field = location.field {
      (number, isNewField) = fields.index(of: field)
      number += 1
    }
    out.varint(number << 1 | (isNewRecord ? 1 : 0))
    if isNewRecord { record(location.record) }
    if isNewField, let field = location.field { define(field) }
    if let element = location.element { out.value(element) }
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

  private mutating func write(_ writes: UndoStep.Writes) {
    typealias Flags = WritesFlags
    let before = writes.before
    out.byte(
      (writes.isThere ? Flags.isThere : 0)
        | (before != nil ? Flags.before : 0)
        | (before?.time != nil ? Flags.time : 0)
        | (before?.dot != nil ? Flags.dot : 0)
        | (writes.others.isEmpty ? 0 : Flags.others))
    if let before {
      out.value(before.value)
      if let time = before.time { self.time(time) }
      if let dot = before.dot { self.dot(dot) }
    }
    if !writes.others.isEmpty { dots(writes.others) }
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
        | (existence.outlived.isEmpty ? 0 : Flags.outlived))
    if let covered = existence.covered { clock(covered) }
    clock(existence.uncovered)
    if let superseded = existence.superseded { dot(superseded) }
    if !existence.outlived.isEmpty { dots(existence.outlived) }
    out.varint(existence.before)
    out.varint(existence.after)
  }

  private mutating func write(_ sums: UndoStep.Sums) {
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
