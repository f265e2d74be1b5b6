// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The expected content of a field in a replica that received some saves.
///
/// The oracle doesn't join states. The content follows from the received saves
/// and from the saves that their authors had seen.
struct OracleField {
  let kind: FieldKind
  /// The received saves, with their edits of the field.
  let heard: [(index: Int, dot: Dot, time: Timestamp, edit: OracleEdit)]

  init(_ location: FieldLocation, held: SaveSet, in history: OracleHistory) {
    kind = location.field.kind
    heard = held.members.map(Int.init).compactMap { index in
      let save = history.saves[index]
      return save.edits[location].map { (index, save.dot, save.time, $0) }
    }
  }

  /// Returns whether a save that had seen the save at `index` satisfies
  /// `what`.
  private func isFollowed(
    _ index: Int, by what: (OracleEdit) -> Bool = { _ in true }
  ) -> Bool {
    heard.contains { $0.edit.seen.contains(index) && what($0.edit) }
  }

  /// Returns whether a received save had seen the save with `dot`.
  func isFollowed(_ dot: Dot) -> Bool {
    heard.contains { $0.dot == dot && isFollowed($0.index) }
  }
}

// Registers.
extension OracleField {
  /// A write, with its time.
  typealias Write = (dot: Dot, time: Timestamp, value: Value?)

  /// The writes that no received write supersedes.
  var siblings: [Write] { siblings(outside: SaveSet()) }

  private func siblings(outside seen: SaveSet) -> [Write] {
    heard.compactMap { save in
      guard let value = save.edit.written, !isFollowed(save.index),
        !seen.contains(save.index)
      else { return nil }
      return (save.dot, save.edit.stamp, value)
    }
  }

  /// Returns the write that would be shown without the saves in `seen`.
  func greatestSibling(outside seen: SaveSet) -> Write? {
    siblings(outside: seen).max { ($0.time, $0.dot) < ($1.time, $1.dot) }
  }

  /// The shown write.
  var write: Write? {
    greatestSibling(outside: SaveSet())
  }

  /// The sibling values that aren't shown, with `nil` for a cleared register.
  var conflicts: [Value?] {
    guard let write else { return [] }
    let others = Set(siblings.map(\.value)).filter { $0 != write.value }
    return (others.contains(nil) ? [nil] : [])
      + others.compactMap(\.self).sorted()
  }
}

// Counters and ledgers.
extension OracleField {
  /// The changes that no reset cancels.
  private var changes: [WideInt] {
    guard kind == .counter else { return [] }
    return counted.compactMap(\.count)
  }

  /// The edits whose changes are not canceled.
  ///
  /// A received reset cancels the changes that it had seen. If the undo of a
  /// reset turned a decision, the last decision counts.
  private var counted: [OracleEdit] {
    let decisions = decisions
    let isTurned = decisions.values.contains { $0.turns > 0 }
    return heard.filter { save in
      if isTurned {
        return decisions[save.dot.device]?.canceled ?? 0 < save.dot.sequence
      }
      return !isFollowed(save.index, by: \.cancelsAdditions)
    }.map(\.edit)
  }

  /// The last save of each device, among some saves, that added to a counter or
  /// a ledger.
  func lastAdditions(in saves: SaveSet) -> VectorClock {
    var clock = VectorClock()
    for save in heard where saves.contains(save.index) {
      let isAddition =
        kind == .counter ? save.edit.count != nil : !save.edit.appended.isEmpty
      if isAddition { clock.advance(to: save.dot) }
    }
    return clock
  }

  var count: Int64 { Int64(clamping: changes.reduce(0, +)) }

  /// The last save of each device that changed the counter, sorted.
  var lastChanges: [Dot] {
    var clock = VectorClock()
    for save in heard where save.edit.count != nil {
      clock.advance(to: save.dot)
    }
    return clock.entries.map { Dot($0.device, $0.count) }
  }

  /// The amounts that no received save cancels.
  private var amounts: [WideInt] {
    guard kind == .ledger else { return [] }
    return counted.flatMap(\.appended).map { WideInt($0.amount) }
  }

  var total: Int64 { Int64(clamping: amounts.reduce(0, +)) }
}

// Sets.
extension OracleField {
  /// The elements with an insertion that no save supersedes.
  var elements: [Value] { insertions.keys.sorted() }

  /// The insertions of each element that no save supersedes.
  var insertions: [Value: Set<Dot>] {
    var insertions: [Value: Set<Dot>] = [:]
    for save in heard {
      for element in save.edit.inserted {
        let isOver =
          isFollowed(save.index) { $0.drops || $0.speaks(of: element) }
          || heard.contains { $0.edit.retracted[element] == save.index }
        if !isOver { insertions[element, default: []].insert(save.dot) }
      }
    }
    return insertions
  }

  /// Whether the field has content that re-creating the record must drop.
  var hasContent: Bool {
    switch kind {
    case .register: !siblings.isEmpty
    case .counter: !changes.isEmpty
    case .set: !elements.isEmpty
    case .ledger: !amounts.isEmpty
    case .existence: false
    }
  }
}
