// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import _RejoinVerification

/// Random edits of fields and their stores.
enum RandomEdits {
  /// Saves an edit of a field, or drops its content.
  static func field(
    _ field: inout FieldState, _ kind: FieldKind, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> FieldState {
    let dot = Dot(device, field.clock[device] + 1)
    if kind == .existence {
      mark(&field, at: dot, &random)
      return field
    }
    var edit = random.number(below: 6) == 0 ? nil : kind.stateEdit(&random)
    var save = EditContext(dot: dot, time: random.timestamp())
    let content = field.read { $0.undoContent(of: nil, by: device) }
    if case .sums(let sums) = content, random.number(below: 4) == 0 {
      let turns = RandomChanges.turns(of: sums.decisions, &random)
      save.retraction = Retraction(turns: turns)
      if edit?.removes == true { edit = nil }
      _ = field.change(edit, in: save)
      return field
    }
    save.drops = random.number(below: 6) == 0
    _ = field.change(edit, in: save)
    return field
  }

  /// Saves the marks of a deletion, a touch, an edit or a purge.
  private static func mark(
    _ field: inout FieldState, at dot: Dot, _ random: inout SeededRandom
  ) {
    let (verb, time) = (random.number(below: 6), random.timestamp())
    var announced = field.clock
    announced.advance(
      to: Dot(DeviceID(UInt64(7)), UInt64(random.number(below: 3))))
    let seen = announced.merging(VectorClock(dot))
    field.changeMarks(at: dot) { marks in
      marks = Siblings(
        sorted: marks.filter { verb == 2 && $0.payload.kind == .alive })
      switch verb {
      case 0: marks.insert(.deletion(covering: seen, at: time), at: dot)
      case 1: marks.insert(.alive(at: time), at: dot)
      case 3:
        marks.insert(
          .deletion(covering: seen, isFinal: true, at: time), at: dot)
      case 4 where !announced.isEmpty:
        marks.insert(.purge(by: dot, seen: announced, at: time), at: dot)
      case 5: marks.insert(.purge(by: dot, seen: seen, at: time), at: dot)
      default: break
      }
    }
  }

  /// Saves insertions of keys and the removal of another key.
  ///
  /// Keys that one save inserts share its dot. A delta that removes one of them
  /// has the dot in its context, and so must contain the others.
  static func map(
    _ map: inout Causal<ORSetStore>, _ device: DeviceID,
    _ random: inout SeededRandom
  ) -> Causal<ORSetStore> {
    let keys = (0..<3).map { _ in Value.int(Int64(random.number(below: 4))) }
    _ = map.updateNext(of: device) { store, dot in
      store.change(keys[0], isIn: false, at: dot, seen: Everything())
      for key in keys[1...] {
        store.change(key, isIn: true, at: dot, seen: Everything())
      }
    }
    return map
  }
}

extension FieldState {
  /// Applies an edit in a save.
  mutating func change(
    _ edit: FieldEdit?, in save: EditContext
  ) -> [Siblings<Stamped>.Element] {
    var save = save
    save.edit = edit
    return apply(save)
  }
}
