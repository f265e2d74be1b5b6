// SPDX-License-Identifier: Apache-2.0

/// What is in a place that a save changes, as far as undoing the save depends on it.
enum PlaceContent: Sendable {
  case siblings(PlaceSiblings)
  case existence(PlaceExistence)
  case tally(Tally)
  case ledger(LedgerLines)

  /// What a save has done here.
  func change(
    to after: PlaceContent, by save: SaveUndo.Point
  ) -> SaveUndo.Change? {
    switch (self, after) {
    case (.siblings(let before), .siblings(let after)):
      before.change(to: after, by: save)
    case (.existence(let before), .existence(let after)):
      before.change(to: after, by: save)
    case (.tally(let before), .tally(let after)):
      before.change(to: after, by: save)
    case (.ledger(let before), .ledger(let after)):
      before.change(to: after, by: save)
    default: nil
    }
  }
}

/// The writes of a register, or the marks of an element.
struct PlaceSiblings: Sendable {
  /// A write, or a mark.
  struct Sibling: Sendable {
    let dot: Dot
    var time = Timestamp.zero
    /// The written value, or whether a mark inserts the element.
    let value: Value?
  }

  /// What decides between siblings.
  enum Rule: Sendable {
    /// The latest write.
    case latest
    /// One mark that says so.
    case any
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
    case .any: .bool(!all.isEmpty)
    }
  }

  /// The sibling that alone decides what is shown.
  private var decisive: Dot? {
    rule == .latest ? latest?.dot : all.count == 1 ? all[0].dot : nil
  }

  /// The write that is shown.
  var latest: Sibling? {
    all.max { ($0.time, $0.dot) < ($1.time, $1.dot) }
  }

  /// What a save has done here.
  fileprivate func change(
    to after: PlaceSiblings, by save: SaveUndo.Point
  ) -> SaveUndo.Change? {
    let kept = Set(after.all.map(\.dot))
    let gone = PlaceSiblings(all.filter { !kept.contains($0.dot) }, rule)
    let isThere = kept.contains(save.dot)
    if !isThere, gone.all.isEmpty { return nil }
    return SaveUndo.Change(
      save: save, isThere: isThere,
      before: gone.all.isEmpty
        ? nil : .value(gone.value, at: gone.latest?.time ?? .zero),
      superseded: .dot(gone.decisive), beside: kept.subtracting([save.dot]))
  }
}

extension StoredReplica {
  /// What is in a place.
  func content(
    of place: SaveUndo.Place, deletion: DeletionRule
  ) -> PlaceContent {
    let position = positions[place.record]
    let field = position.flatMap { position in
      names.number(of: place.field).flatMap { records[position][$0] }
    }
    switch (field ?? FieldState(place.field.kind)).box {
    case .existence:
      let record = position.map { records[$0] } ?? RecordState(place.record)
      return .existence(PlaceExistence(record, deletion))
    case .register(let field):
      return .siblings(PlaceSiblings(writes: field.store))
    case .set(let field):
      let marks = place.element.map { field.store[$0] } ?? Siblings()
      return .siblings(
        PlaceSiblings(
          marks.map { .init(dot: $0.dot, value: .bool(true)) }, .any))
    case .counter(let field): return .tally(field.store)
    case .ledger(let field): return .ledger(field.store)
    }
  }
}
