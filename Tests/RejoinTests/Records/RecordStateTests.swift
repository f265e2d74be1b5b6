// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct RecordStateTests {
  /// A record that some devices edit at the same time, each in one save.
  private func record(_ verbs: Verb...) -> RecordState {
    var record = RecordState(RecordID("Item", "1"))
    for (i, verb) in verbs.enumerated() {
      let dot = Dot(DeviceID(UInt64(i + 1)), 1)
      let name: UInt32 = verb == .edit ? 1 : 0
      let kind: FieldKind = verb == .edit ? .register : .existence
      var state = FieldState(kind)
      if verb == .edit {
        _ = state.change(.write(1), in: EditContext(dot: dot, time: .zero))
      }
      state.changeMarks(at: dot) {
        $0.insert(
          verb == .delete
            ? .deletion(covering: VectorClock(dot), at: .zero)
            : .alive(at: .zero), at: dot)
      }
      record.update(name, kind: kind, refers: false) {
        $0.update { $0.merge(state) }
      }
    }
    return record
  }

  private enum Verb { case edit, touch, delete }

  @Test(arguments: DeletionRule.allCases)
  func recordWithoutSavesNeitherExistsNorIsDead(_ rule: DeletionRule) {
    #expect(!record().exists(rule))
    #expect(!record().isDead(rule))
  }

  @Test(arguments: DeletionRule.allCases)
  func savesThatAgreeNeedNoRule(_ rule: DeletionRule) {
    for edits in [record(.edit), record(.touch), record(.edit, .touch)] {
      #expect(edits.exists(rule))
      #expect(!edits.isDead(rule))
    }
    #expect(!record(.delete, .delete).exists(rule))
    #expect(record(.delete, .delete).isDead(rule))
  }

  @Test func ruleDecidesBetweenDeletionAndConcurrentEdit() {
    for edited in [
      record(.edit, .delete), record(.delete, .edit), record(.touch, .delete),
      record(.delete, .touch), record(.delete, .edit, .delete),
    ] {
      #expect(edited.exists(.updateWins))
      #expect(!edited.isDead(.updateWins))
      #expect(!edited.exists(.deleteWins))
      #expect(edited.isDead(.deleteWins))
    }
  }

  @Test func fieldsAreSortedByTheirNames() {
    var record = RecordState(RecordID("Item", "1"))
    for name in [3, 1, 2, 3] as [UInt32] {
      record.update(name, kind: .counter, refers: false) { _ in }
    }
    #expect(record.slots.map(\.name) == [1, 2, 3])
  }
}
