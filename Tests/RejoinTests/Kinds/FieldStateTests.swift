// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing
import _RejoinVerification

@Suite(.encodes) struct FieldStateTests {
  private func save(
    _ device: UInt64, _ sequence: UInt64, at time: Int64 = 0,
    observed: FieldState? = nil
  ) -> EditContext {
    EditContext(
      dot: Dot(DeviceID(device), sequence), time: Timestamp(milliseconds: time),
      observed: observed)
  }

  @Test(arguments: FieldKind.allCases)
  func clockContainsEverySave(_ kind: FieldKind) {
    var random = SeededRandom(seed: 7)
    var field = FieldState(kind)
    #expect(field.clock.isEmpty)
    #expect(!field.hasContent)
    for n in 1...20 as ClosedRange<UInt64> {
      let edit = n % 3 == 0 ? nil : kind.stateEdit(&random)
      _ = field.change(edit, in: save(1, n))
      #expect(field.clock == [DeviceID(1): n])
    }
    _ = field.change(nil, in: save(2, 1))
    #expect(field.clock[DeviceID(2)] == 1)
    #expect(!field.hasContent)
  }

  @Test func reinsertedElementHasOneDot() {
    let one = FieldEdit.members(SetEdit(inserting: [.int(1)]))
    var (once, twice) = (FieldState(.set), FieldState(.set))
    _ = once.change(nil, in: save(1, 1))
    _ = once.change(one, in: save(1, 2))
    for n in [1, 2] as [UInt64] { _ = twice.change(one, in: save(1, n)) }
    #expect(twice == once)
  }

  @Test func mergeIgnoresOtherKind() {
    var field = FieldState(.register)
    _ = field.change(.write(.int(1)), in: save(1, 1))
    let before = field
    field.merge(FieldState(.counter))
    #expect(field == before)
  }

  @Test func droppingKeepsUnobservedElements() {
    let field = FieldState(.set)
    var mine = field
    _ = mine.change(.members(SetEdit(inserting: [.int(1)])), in: save(1, 1))
    let observed = mine
    _ = mine.change(.members(SetEdit(inserting: [.int(2)])), in: save(2, 1))
    _ = mine.change(nil, in: save(1, 2, observed: observed))
    #expect(mine.elements == [.int(2)])
  }

  @Test func removalKeepsUnobservedInsertion() {
    let one = SetEdit(inserting: [.int(1)])
    var (field, other) = (FieldState(.set), FieldState(.set))
    _ = field.change(.members(one), in: save(1, 1))
    _ = other.change(.members(one), in: save(2, 1))
    let observed = field
    field.merge(other)
    let removal = SetEdit(inserting: [], removing: [.int(1)])
    _ = field.change(.members(removal), in: save(1, 2, observed: observed))
    #expect(field.elements == [.int(1)])
  }

  @Test func counterDropsOnlyObservedChanges() {
    var field = FieldState(.counter)
    _ = field.change(.count(CounterEdit(by: 5)), in: save(1, 1))
    let observed = field
    _ = field.change(.count(CounterEdit(by: 70)), in: save(2, 1))
    _ = field.change(nil, in: save(1, 2, observed: observed))
    #expect(field.count == 70)
  }

  @Test func zeroIncrementAddsContentAndResetRemovesIt() {
    var field = FieldState(.counter)
    _ = field.change(
      .count(CounterEdit(by: 0, isReset: true)), in: save(1, 1))
    #expect(!field.hasContent)
    _ = field.change(.count(CounterEdit(by: 0)), in: save(1, 2))
    #expect(field.hasContent)
    _ = field.change(
      .count(CounterEdit(by: 0, isReset: true)), in: save(2, 1))
    #expect(!field.hasContent)
  }

  @Test func ledgerDropsOnlyObservedEntries() {
    var field = FieldState(.ledger)
    var edit = LedgerEdit()
    edit.append(5, memo: nil)
    _ = field.change(.append(edit), in: save(1, 1))
    let observed = field
    _ = field.change(.append(edit), in: save(1, 2))
    _ = field.change(nil, in: save(2, 1, observed: observed))
    #expect(field.total == 5)
  }

  /// The form was opened before the replica was restored from a backup.
  @Test(arguments: FieldKind.allCases)
  func droppingIgnoresSavesLostByRestore(_ kind: FieldKind) {
    var random = SeededRandom(seed: 11)
    var field = FieldState(kind)
    _ = field.change(kind.stateEdit(&random), in: save(1, 1))
    var ahead = field
    _ = ahead.change(kind.stateEdit(&random), in: save(1, .max))
    _ = ahead.change(kind.stateEdit(&random), in: save(2, 7))
    var seen = field
    _ = seen.change(nil, in: save(1, 2, observed: seen))
    _ = field.change(nil, in: save(1, 2, observed: ahead))
    #expect(field == seen)
    for edited in [kind.stateEdit(&random), nil] {
      _ = field.change(edited, in: save(1, 3, observed: ahead))
      #expect(field.clock == [DeviceID(1): 3])
    }
  }

  @Test(arguments: FieldKind.allCases)
  func forgeryFindsSavesOfOtherDevices(_ kind: FieldKind) {
    var before = FieldState(kind)
    _ = before.change(kind.adding(1), in: save(2, 1))
    var (own, forged) = (before, before)
    _ = own.change(kind.adding(2), in: save(1, 1))
    #expect(own.forgery(by: DeviceID(1), over: before) == nil)
    _ = forged.change(kind.adding(2), in: save(2, 2))
    #expect(forged.forgery(by: DeviceID(1), over: before) != nil)
    #expect(forged.forgery(by: DeviceID(2), over: before) == nil)
  }

  @Test func editsHaveKindOfField() {
    for kind in FieldKind.allCases {
      #expect(kind.adding(1).kind == kind)
      #expect(kind.showing(1).kind == kind)
    }
  }

  /// Entries that only one side folded are not compared.
  @Test func equivocationsStartAfterGreaterFold() {
    func ledger(_ amounts: [Int64], folded: UInt64) -> FieldState {
      var lines = Ledger()
      for (i, amount) in amounts.enumerated() {
        lines.append(
          amount, memo: nil, at: Dot(DeviceID(1), UInt64(i) + 1), time: .zero)
      }
      _ = lines.fold(below: [DeviceID(1): folded])
      return FieldState(
        Causal(store: lines, context: CausalContext([DeviceID(1): 4])))
    }
    for (i, j) in [(0, 2), (2, 0), (2, 2)] as [(UInt64, UInt64)] {
      let mine = ledger([1, 2, 3, 4], folded: i)
      let theirs = ledger([1, 2, 3, 5], folded: j)
      #expect(mine.equivocations(with: theirs) == [Dot(DeviceID(1), 4)])
      #expect(mine.equivocations(with: ledger([1, 2, 3, 4], folded: j)) == [])
    }
  }
}
