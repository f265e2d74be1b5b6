// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct RecordStateTests {
  /// A record with concurrent marks, one per device.
  private func record(_ marks: Bool...) -> RecordState {
    var record = RecordState(RecordID("Item", "1"))
    for (i, mark) in marks.enumerated() {
      var state = FieldState(.register)
      let save = EditContext(
        dot: Dot(DeviceID(UInt64(i + 1)), 1), time: Timestamp(rawValue: 1))
      _ = state.change(.write(.bool(mark)), in: save)
      record.update(0, kind: .register, refers: false) {
        $0.update { $0.merge(state) }
      }
    }
    return record
  }

  @Test(arguments: DeletionRule.allCases)
  func withoutAMarkItNeitherExistsNorIsDead(_ rule: DeletionRule) {
    #expect(!record().exists(rule))
    #expect(!record().isDead(rule))
  }

  @Test(arguments: DeletionRule.allCases)
  func marksThatAgreeNeedNoRule(_ rule: DeletionRule) {
    #expect(record(true, true).exists(rule))
    #expect(!record(true, true).isDead(rule))
    #expect(!record(false, false).exists(rule))
    #expect(record(false, false).isDead(rule))
  }

  @Test func anUpdateConcurrentWithADeletionGoesByTheRule() {
    for marks in [record(true, false), record(false, true)] {
      #expect(marks.exists(.updateWins))
      #expect(!marks.isDead(.updateWins))
      #expect(!marks.exists(.deleteWins))
      #expect(marks.isDead(.deleteWins))
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
