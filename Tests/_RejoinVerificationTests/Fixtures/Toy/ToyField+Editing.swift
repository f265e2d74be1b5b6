// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The part of a save that a field receives.
struct ToySave {
  let dot: Dot
  let time: Timestamp
  /// The saves that the author saw, or `nil` for those of this replica.
  var seen: VectorClock?
  /// Whether the save first drops everything seen.
  var drops = false
}

extension ToyField {
  /// Applies an edit of a save to the field, or drops the content that its
  /// author saw.
  mutating func change(_ edit: FieldEdit?, in save: ToySave) {
    switch edit {
    case nil where kind == .counter: reset(in: save)
    case nil: drop(in: save)
    case .write(let value): write(value, in: save)
    case .count(let edit): count(edit, in: save)
    case .members(let edit): change(edit, in: save)
    // A toy universe has only fields of these kinds.
    default: break
    }
    let isTrace = entries.contains { $0.dot == save.dot }
    if hazard != .removalWithoutDot || kind != .set || isTrace {
      clock.advance(to: save.dot)
    }
  }

  private mutating func drop(
    in save: ToySave, where isMeant: (Entry) -> Bool = { _ in true }
  ) {
    entries.removeAll { isMeant($0) && save.seen?.contains($0.dot) ?? true }
  }

  private mutating func write(_ value: Value?, in save: ToySave) {
    var entry = Entry(
      dot: save.dot, time: save.time, value: value, seen: clock)
    drop(in: save)
    if let winner, !outranks(entry, winner) {
      entry.rise(above: winner, hazard)
    }
    entries.append(entry)
  }

  private mutating func count(_ edit: CounterEdit, in save: ToySave) {
    if save.drops || edit.isReset { reset(in: save) }
    if edit.increments > 0 || edit.decrements > 0 || !edit.isReset {
      let change = WideInt(edit.increments) - WideInt(edit.decrements)
      let sum = entries.first { $0.dot == save.dot }?.amount ?? 0
      entries.removeAll { $0.dot == save.dot }
      entries.append(Entry(dot: save.dot, amount: sum + change))
    }
  }

  private mutating func reset(in save: ToySave) {
    guard hazard == .resetAddsNegative else { return drop(in: save) }
    entries.append(Entry(dot: save.dot, amount: -count))
  }

  private mutating func change(_ edit: SetEdit, in save: ToySave) {
    if save.drops || edit.isCleared { drop(in: save) }
    for (element, isIn) in edit.members {
      drop(in: save) { $0.value == element }
      if isIn { entries.append(Entry(dot: save.dot, value: element)) }
    }
  }
}

extension ToyField.Entry {
  /// Takes a later time than `other`, so the author sees the new value.
  fileprivate mutating func rise(
    above other: ToyField.Entry, _ hazard: Hazard?
  ) {
    if hazard == .wallClockStamps || hazard == .clockThenTimeThenDevice {
      return
    }
    time = other.time.next ?? .max
  }
}
