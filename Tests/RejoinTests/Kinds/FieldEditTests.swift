// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct FieldEditTests {
  /// Returns the edit that joins consecutive edits of one save.
  private func joined(_ edits: FieldEdit...) -> FieldEdit {
    var all = edits[0]
    for edit in edits.dropFirst() {
      let isBorne = all.append(edit)
      #expect(isBorne)
    }
    return all
  }

  private func entries(_ amounts: Int64...) -> LedgerEdit {
    var edit = LedgerEdit()
    for amount in amounts { edit.append(amount, memo: nil) }
    return edit
  }

  @Test func resetDropsEarlierCounts() {
    let edit = joined(
      .count(CounterEdit(by: 5)), .count(CounterEdit(by: -2)),
      .count(CounterEdit(by: 3, isReset: true)), .count(CounterEdit(by: 1)))
    #expect(edit == .count(CounterEdit(by: 4, isReset: true)))
  }

  @Test func clearingDropsEarlierInsertions() {
    let edit = joined(
      .members(SetEdit(inserting: [.int(1)])), .members(.clearing),
      .members(SetEdit(inserting: [.int(2)])))
    guard case .members(let members) = edit else { Issue.record(); return }
    #expect(members.isCleared)
    #expect(members.members == [.int(2): true])
  }

  @Test func lastEditOfElementWins() {
    let insert = FieldEdit.members(SetEdit(inserting: [.int(1)]))
    let remove = FieldEdit.members(SetEdit(inserting: [], removing: [.int(1)]))
    #expect(joined(insert, remove) == remove)
    #expect(joined(remove, insert) == insert)
  }

  @Test func cancelingDropsEarlierEntries() {
    let edit = joined(
      .append(entries(1, 2)), .append(.cancelling), .append(entries(3)))
    guard case .append(let ledger) = edit else { Issue.record(); return }
    #expect(ledger.isCancelled)
    #expect(ledger.entries.map(\.amount) == [3])
    #expect(ledger.applied(to: 100) == 3)
  }

  @Test func lastWriteWins() {
    #expect(joined(.write(.int(1)), .write(nil)) == .write(nil))
  }

  @Test func appendRefusesOverflowingCounts() {
    let most = FieldEdit.count(CounterEdit(by: .max))
    var edit = joined(most, most)
    let isBorne = edit.append(.count(CounterEdit(by: 2)))
    #expect(!isBorne)
    #expect(edit == joined(most, most))
  }
}
