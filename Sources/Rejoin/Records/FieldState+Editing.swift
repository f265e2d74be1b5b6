// SPDX-License-Identifier: Apache-2.0

/// The context of an edit: the save, and what its author observed.
struct EditContext {
  /// The save.
  let dot: Dot
  /// Its timestamp.
  let time: Timestamp
  /// The field as the author observed it; `nil` if that is its current state.
  var observed: FieldState?
  /// Whether the observed content is dropped first, because the record is
  /// created again or purged.
  var drops = false
  /// What the edit takes back; `nil` unless it is part of an undoing.
  var retraction: Retraction?
}

/// What undoing a save takes out of a field: the dots under which it is, and
/// nothing else.
package struct Retraction: Hashable, Sendable {
  /// The dot of a write or a mark; `nil` if none is there.
  package var dot: Dot?
  /// When the write was made that takes its place; `nil` if none does.
  package var time: Timestamp?
  /// Those of the elements of a set.
  package var elements: [Value: Dot] = [:]
}

/// The dots that the edit of a save supersedes.
enum Observed: DotSet {
  case all
  case those(in: VectorClock)
  case only(Dot?)

  init(_ save: EditContext) {
    self =
      if let retraction = save.retraction {
        .only(retraction.dot)
      } else if let clock = save.observed?.clock {
        .those(in: clock)
      } else { .all }
  }

  func contains(_ dot: Dot) -> Bool {
    switch self {
    case .all: true
    case .those(let clock): clock.contains(dot)
    case .only(let only): dot == only
    }
  }
}

extension FieldKind {
  /// Whether `edit` applies to this kind of field.
  package func accepts(_ edit: FieldEdit) -> Bool {
    switch (self, edit) {
    case (.register, .write), (.counter, .count), (.set, .members),
      (.ledger, .append):
      true
    default: false
    }
  }
}

extension FieldState {
  /// Edits the field in one save.
  ///
  /// - Parameter edit: The edit, or `nil` to drop the observed content.
  /// - Returns: The unobserved siblings that were superseded, because no
  ///   timestamp is greater than theirs.
  mutating func change(
    _ edit: FieldEdit?, in save: EditContext
  ) -> [Siblings<Stamped>.Element] {
    // Holding the only reference, the store is changed without being copied.
    let taken = self
    self = .register(Causal())
    let (state, superseded) = taken.changed(edit, in: save)
    self = state
    _checkInvariants()
    return superseded
  }

  private consuming func changed(
    _ edit: FieldEdit?, in save: EditContext
  ) -> (FieldState, [Siblings<Stamped>.Element]) {
    let seen = Observed(save)
    let dot = save.dot
    switch (consume self, edit) {
    case (.register(var field), let edit):
      let superseded = field.update(at: dot) {
        $0.change(edit, in: save, seen: seen)
      }
      return (.register(field), superseded)
    case (.counter(var field), let edit):
      field.update(at: dot) { $0.change(edit, in: save) }
      return (.counter(field), [])
    case (.set(var field), let edit):
      field.update(at: dot) {
        if !$0.retract(in: save) || edit != nil {
          $0.change(edit, in: save, seen: seen)
        }
      }
      return (.set(field), [])
    case (.ledger(var field), let edit):
      field.update(at: dot) { $0.change(edit, in: save) }
      return (.ledger(field), [])
    case (.existence(let field), _): return (.existence(field), [])
    }
  }

  /// Changes the marks of a record's existence in one save.
  mutating func changeMarks(
    at dot: Dot, _ change: (inout Siblings<ExistenceMark>) -> Void
  ) {
    guard case .existence(var field) = self else { return }
    field.update(at: dot, change)
    self = .existence(field)
    _checkInvariants()
  }
}

extension Siblings<Stamped> {
  fileprivate mutating func change(
    _ edit: FieldEdit?, in save: EditContext, seen: Observed
  ) -> [Element] {
    guard case .write(let value) = edit else {
      drop(seen: seen)
      return []
    }
    if let time = save.retraction?.time {
      drop(seen: seen)
      insert(Stamped(value, at: time), at: save.dot)
      return []
    }
    return write(value, at: save.dot, time: save.time, observed: seen)
  }
}

extension Tally {
  fileprivate mutating func change(_ edit: FieldEdit?, in save: EditContext) {
    let observed: Tally? =
      if case .counter(let field) = save.observed {
        field.store.held(by: self)
      } else { nil }
    guard case .count(let edit) = edit else { return reset(observed: observed) }
    if save.drops || edit.isReset { reset(observed: observed) }
    // A reset alone leaves no entry. Any other edit does, even one by zero.
    if edit.increments > 0 || edit.decrements > 0 || !edit.isReset {
      let entry = add(
        edit.increments, edit.decrements, by: save.dot.device,
        sequence: save.dot.sequence)
      precondition(entry != nil, "a save checks before that no sum overflows")
    }
  }

  /// The entries of what an author observed, as far as `current` has them.
  ///
  /// It has fewer if the replica was restored since.
  private func held(by current: Tally) -> Tally {
    Tally(
      entries: entries.compactMap { entry in
        guard let mine = current.entries.entry(of: entry.device) else {
          return nil
        }
        return entry.sequence < mine.sequence ? entry : mine
      })
  }
}

extension DotMap {
  /// Takes elements out of a set, in an undoing.
  ///
  /// - Returns: Whether the save is one.
  fileprivate mutating func retract(in save: EditContext) -> Bool {
    guard let retraction = save.retraction else { return false }
    for (element, dot) in retraction.elements {
      mark(element, isIn: false, at: save.dot, seen: Only(dot))
    }
    return true
  }

  fileprivate mutating func change(
    _ edit: FieldEdit?, in save: EditContext, seen: Observed
  ) {
    guard case .members(let edit) = edit else { return drop(seen: seen) }
    if save.drops || edit.isCleared { drop(seen: seen) }
    for (element, isIn) in edit.members {
      mark(element, isIn: isIn, at: save.dot, seen: seen)
    }
  }
}

extension LedgerLines {
  fileprivate mutating func change(_ edit: FieldEdit?, in save: EditContext) {
    let observed: LedgerLines? =
      if case .ledger(let field) = save.observed {
        field.store.held(by: self)
      } else { nil }
    guard case .append(let edit) = edit else {
      return cancel(observed: observed)
    }
    if save.drops || edit.isCancelled { cancel(observed: observed) }
    for entry in edit.entries {
      append(entry.amount, memo: entry.memo, at: save.dot, time: save.time)
    }
  }

  /// The entries that an author observed, as far as `current` has them.
  ///
  /// It has fewer if the replica was restored since.
  private func held(by current: LedgerLines) -> LedgerLines {
    var held: [DeviceID: DeviceEntries] = [:]
    for (device, line) in lines {
      guard let mine = current.lines[device] else { continue }
      held[device] = line.count < mine.count ? line : mine
    }
    return LedgerLines(lines: held)
  }
}
