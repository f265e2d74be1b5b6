// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

@Suite(.encodes) struct RecordStateTests {
  /// Returns a record that devices edit concurrently, each in one save.
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

  /// Isolated devices delete and restore one record, and send each save to a
  /// hub.
  @Test func coveredSavesMatchAllMarks() throws {
    var (compared, replaced) = (0, 0)
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let hub = Replica.empty(1)
      let devices = (2...15).map { Replica.empty($0) }
      for _ in 0..<200 {
        let device = random.pick(devices)
        switch random.number(below: 4) {
        case 0: try device.edit { $0.miles.increment() }
        case 1: try device.save { $0.undelete(Sailor.ada) }
        default: try device.save { $0.delete(Sailor.ada) }
        }
        let before = hub.record(Sailor.ada)?[.existence].marks ?? []
        hub.merge(device)
        guard let place = hub.current.positions[Sailor.ada] else { continue }
        let record = hub.current.records[place]
        #expect(record.covered == record.marks.covered, "seed \(seed)")
        if record.marks.count < 8 { continue }
        compared += 1
        let isReplaced = before.contains {
          $0.kind == .deletion && record.marks[$0.dot] == nil
        }
        replaced += isReplaced ? 1 : 0
      }
    }
    #expect(compared > 500 && replaced > 50)
  }

  @Test(arguments: DeletionRule.allCases)
  func recordWithoutSavesNeitherExistsNorIsDead(_ rule: DeletionRule) {
    #expect(!record().exists(rule))
    #expect(!record().isDead(rule))
  }

  @Test(arguments: DeletionRule.allCases)
  func agreeingSavesIgnoreRule(_ rule: DeletionRule) {
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

  @Test func fieldsAreSortedByName() {
    var record = RecordState(RecordID("Item", "1"))
    for name in [3, 1, 2, 3] as [UInt32] {
      record.update(name, kind: .counter, refers: false) { _ in }
    }
    #expect(record.slots.map(\.name) == [1, 2, 3])
  }
}
