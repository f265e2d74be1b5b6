// SPDX-License-Identifier: Apache-2.0

/// What is in a place that a save changes, as far as undoing the save depends on it.
enum PlaceContent: Sendable {
  case siblings(PlaceSiblings)
  case tally(Tally)
  case ledger(LedgerLines)

  /// What a save has done here.
  func change(to after: PlaceContent, by dot: Dot) -> SaveUndo.Change? {
    switch (self, after) {
    case (.siblings(let before), .siblings(let after)):
      before.change(to: after, by: dot)
    case (.tally(let before), .tally(let after)):
      before.change(to: after, by: dot)
    case (.ledger(let before), .ledger(let after)):
      before.change(to: after, by: dot)
    default: nil
    }
  }
}

/// The writes of a register, or the marks of a record or an element.
struct PlaceSiblings: Sendable {
  /// A write, or a mark.
  struct Sibling: Sendable {
    let dot: Dot
    var time = Timestamp.zero
    /// What was written; of a mark, whether the record or the element is there.
    let value: Value?
  }

  /// What decides between siblings.
  enum Rule: Sendable {
    /// The latest write.
    case latest
    /// One mark that says so.
    case any
    /// No mark that denies it.
    case all
  }

  let all: [Sibling]
  let rule: Rule

  /// The siblings of a register.
  init(writes: some Sequence<Siblings<Stamped>.Element>) {
    all = writes.map {
      Sibling(dot: $0.dot, time: $0.payload.time, value: $0.payload.value)
    }
    rule = .latest
  }

  init(_ all: [Sibling], _ rule: Rule) { (self.all, self.rule) = (all, rule) }

  /// What is shown.
  var value: Value? {
    switch rule {
    case .latest: latest?.value
    case .any: .bool(all.contains { $0.value == .bool(true) })
    case .all:
      .bool(!all.isEmpty && all.allSatisfy { $0.value == .bool(true) })
    }
  }

  /// The sibling that alone decides what is shown.
  private var decisive: Dot? {
    rule == .latest ? latest?.dot : all.count == 1 ? all[0].dot : nil
  }

  private var latest: Sibling? {
    all.max { ($0.time, $0.dot) < ($1.time, $1.dot) }
  }

  /// What a save has done here.
  fileprivate func change(
    to after: PlaceSiblings, by dot: Dot
  ) -> SaveUndo.Change? {
    let kept = Set(after.all.map(\.dot))
    let superseded = PlaceSiblings(
      all.filter { !kept.contains($0.dot) }, rule)
    let isLeft = kept.contains(dot)
    if !isLeft, superseded.all.isEmpty { return nil }
    return SaveUndo.Change(
      dot: isLeft ? dot : nil,
      before: superseded.all.isEmpty ? nil : .value(superseded.value),
      superseded: .dot(superseded.decisive), beside: kept.subtracting([dot]))
  }
}

extension LedgerLines {
  /// What a save has done here.
  fileprivate func change(
    to after: LedgerLines, by dot: Dot
  ) -> SaveUndo.Change? {
    if self == after { return nil }
    let count = lines[dot.device]?.count ?? 0
    let own = after.lines[dot.device] ?? DeviceEntries()
    var opposite: [LedgerEdit.Entry] = []
    for entry in own.tail.suffix(Int(own.count - count)) {
      opposite.append(-Int128(entry.amount), memo: entry.memo)
    }
    if after.cancelled != cancelled {
      opposite.append(after.cancelledSum - cancelledSum, memo: nil)
    }
    return SaveUndo.Change(
      dot: dot, line: count + 1, before: .entries(opposite),
      superseded: .sums(cancelled: cancelled, all: after.cancelled))
  }

  private var cancelledSum: Int128 {
    lines.values.reduce(0) { $0 + $1.cancelledSum }
  }

  private var cancelled: VectorClock {
    VectorClock(greatest: lines.mapValues(\.cancelled))
  }
}

extension [LedgerEdit.Entry] {
  /// Appends an amount, in as many entries as it takes.
  ///
  /// Zero takes one, too: earlier entries are looked for where it is.
  fileprivate mutating func append(_ amount: Int128, memo: Value?) {
    var rest = amount
    repeat {
      let part = Int64(clamping: rest)
      append(LedgerEdit.Entry(amount: part, memo: memo))
      rest -= Int128(part)
    } while rest != 0
  }
}

extension Tally {
  /// What a save has done here.
  fileprivate func change(to after: Tally, by dot: Dot) -> SaveUndo.Change? {
    if self == after { return nil }
    return SaveUndo.Change(
      dot: dot, before: .amount(sum - after.sum),
      superseded: .sums(
        cancelled: VectorClock(cancelled), all: VectorClock(after.cancelled)))
  }
}

extension VectorClock {
  /// The last change of each device.
  fileprivate init(_ entries: [Tally.Entry]) {
    self.init()
    for entry in entries { insert(Dot(entry.device, entry.sequence)) }
  }
}

extension StoredReplica {
  /// What is in a place.
  func content(
    of place: SaveUndo.Place, deletion: DeletionRule
  ) -> PlaceContent {
    let field = positions[place.record].flatMap { position in
      names.number(of: place.field).flatMap { records[position][$0] }
    }
    switch field ?? FieldState(place.field.kind) {
    case .register(let field) where place.field == .existence:
      let marks = field.store.map {
        PlaceSiblings.Sibling(dot: $0.dot, value: $0.payload.value)
      }
      return .siblings(
        PlaceSiblings(marks, deletion == .updateWins ? .any : .all))
    case .register(let field):
      return .siblings(PlaceSiblings(writes: field.store))
    case .lww(let field):
      return .siblings(
        PlaceSiblings(writes: field.store.write.map { [$0] } ?? []))
    case .set(let field):
      let marks = place.element.map { field.store[$0] } ?? Siblings()
      return .siblings(
        PlaceSiblings(
          marks.map { .init(dot: $0.dot, value: .bool(true)) }, .any))
    case .removeWinsSet(let field):
      let marks = place.element.map { field.store[$0] } ?? Siblings()
      return .siblings(
        PlaceSiblings(
          marks.map {
            .init(dot: $0.dot, value: .bool($0.payload == .added))
          }, .all))
    case .counter(let field): return .tally(field.store)
    case .ledger(let field): return .ledger(field.store)
    }
  }
}
