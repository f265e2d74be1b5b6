// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct PolicyDecisionTests {
  private static let clean = difference("clean", "x", "x", "x")
  private static let dirty = difference("dirty", "x", "m", "x")
  private static let changed = difference("changed", "x", "x", "s")
  private static let both = difference("both", "x", "m", "s")
  private static let all = [clean, dirty, changed, both]

  private static func difference(
    _ field: String, _ base: Value?, _ mine: Value?, _ store: Value?
  ) -> FieldDifference {
    FieldDifference(field: field, base: base, mine: mine, store: store)
  }

  /// Returns the outcomes for fields that are clean, dirty, changed, and both.
  private func outcomes(
    _ policy: MergePolicy, insertion: Bool = false
  ) -> [FieldOutcome?] {
    let decision = policy.decide(Self.all, isInsertion: insertion)
    return Self.all.map { decision.outcomes[SchemaName($0.field)] }
  }

  @Test func errorRefuses() {
    #expect(outcomes(.error) == [nil, nil, nil, nil])
    #expect(MergePolicy.error.decide(Self.all).isRefused)
    #expect(!MergePolicy.error.decide([Self.dirty]).isRefused)
  }

  @Test func storeTrumpKeepsStoreValue() {
    #expect(
      outcomes(.mergeByPropertyStoreTrump)
        == [nil, .writeConcurrently("m"), nil, .keepStore])
  }

  @Test func objectTrumpWritesContextValue() {
    #expect(
      outcomes(.mergeByPropertyObjectTrump)
        == [nil, .write("m"), nil, .write("m")])
  }

  @Test func overwriteWritesEveryChangedField() {
    #expect(
      outcomes(.overwrite) == [nil, .write("m"), .write("x"), .write("m")])
  }

  @Test func overwriteSkipsEqualValues() {
    let same = Self.difference("same", "x", "s", "s")
    let decision = MergePolicy.overwrite.decide([same])
    #expect(decision.isConflict)
    #expect(decision.outcomes.isEmpty)
  }

  @Test(arguments: [MergePolicy.rollback, .serverWins])
  func policyDropsEveryEdit(_ policy: MergePolicy) {
    #expect(outcomes(policy) == [nil, .keepStore, nil, .keepStore])
    #expect(policy.decide(Self.all).dropsMergeableEdits)
    #expect(!policy.decide([Self.dirty, Self.clean]).dropsMergeableEdits)
  }

  @Test(arguments: [MergePolicy.merge, .mergeNonNil])
  func policyWritesConcurrently(_ policy: MergePolicy) {
    #expect(
      outcomes(policy) == [
        nil, .writeConcurrently("m"), nil, .writeConcurrently("m"),
      ])
    #expect(!policy.decide(Self.all).dropsMergeableEdits)
  }

  @Test func manualReportsContestedField() {
    #expect(
      outcomes(.manual) == [nil, .writeConcurrently("m"), nil, .reportConflict])
  }

  @Test func customRuleReceivesChangedFields() {
    let policy = MergePolicy.custom { difference in
      difference.field == "clean" ? .write("asked") : .write(difference.store)
    }
    #expect(outcomes(policy) == [nil, .write("x"), .write("s"), .write("s")])
  }

  @Test func mergeNonNilSkipsNilOfInsertion() {
    let fields = [
      Self.difference("value", nil, "m", "s"),
      Self.difference("null", nil, .null, "s"),
      Self.difference("unset", "x", nil, "s"),
      Self.difference("theirs", nil, nil, "s"),
    ]
    let inserting = MergePolicy.mergeNonNil.decide(fields, isInsertion: true)
    #expect(inserting.outcomes["value"] == .writeConcurrently("m"))
    #expect(inserting.outcomes["null"] == .keepStore)
    #expect(inserting.outcomes["unset"] == .keepStore)
    #expect(inserting.outcomes["theirs"] == nil)
    let editing = MergePolicy.mergeNonNil.decide(fields)
    #expect(editing.outcomes["null"] == .writeConcurrently(.null))
    #expect(editing.outcomes["unset"] == .writeConcurrently(nil))
  }

  @Test(arguments: MergePolicy.named)
  func decisionWithoutConflictWritesDirtyFields(_ policy: MergePolicy) {
    let decision = policy.decide([Self.clean, Self.dirty])
    #expect(!decision.isConflict && !decision.isRefused)
    #expect(!decision.dropsMergeableEdits)
    #expect(decision.outcomes == ["dirty": .writeConcurrently("m")])
  }

  @Test(arguments: MergePolicy.named)
  func cleanFieldsDoNotConflict(_ policy: MergePolicy) {
    let decision = policy.decide([Self.clean, Self.changed])
    #expect(!decision.isConflict && decision.outcomes.isEmpty)
    #expect(!decision.isRefused && !decision.dropsMergeableEdits)
  }

  @Test func disjointEditsConflict() {
    #expect(MergePolicy.error.decide([Self.dirty, Self.changed]).isRefused)
  }

  @Test func deletionConflictsWithAnyChange() {
    #expect(
      MergePolicy.error.decide([Self.changed], isDeletion: true).isRefused)
    #expect(
      !MergePolicy.error.decide([Self.clean], isDeletion: true).isConflict)
  }

  @Test func deletedRecordCountsAsChangedInEveryField() {
    let field = FieldDifference(
      field: "f", base: nil, mine: "m", store: nil, storeWasDeleted: true)
    #expect(field.isChangedInStore && field.isChangedInContext)
    #expect(
      MergePolicy.manual.decide([field]).outcomes == ["f": .reportConflict])
  }

  @Test func unsetAndNullAreDifferent() {
    #expect(Self.difference("f", nil, .null, nil).isChangedInContext)
    #expect(Self.difference("f", nil, nil, .null).isChangedInStore)
  }

  @Test func policiesAreFoundByTheirNames() {
    for policy in MergePolicy.named {
      #expect(MergePolicy(named: policy.name)?.name == policy.name)
    }
    #expect(MergePolicy(named: "custom") == nil)
    #expect(Set(MergePolicy.named.map(\.name)).count == 10)
  }
}
