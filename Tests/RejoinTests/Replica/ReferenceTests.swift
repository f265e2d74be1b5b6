// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct ReferenceTests {
  private let a = Replica.empty(1)

  private func refer() throws {
    try a.save { transaction in
      transaction[Sailor.self, "ada"].mentor = Reference("eve")
      transaction[Sailor.self, "ada"].crew.insert(Reference("eve"))
      transaction[Sailor.self, "ada"].crew.insert(Reference("bob"))
      transaction[Sailor.self, "bob"].ensureExists()
    }
  }

  @Test func recordHidesDanglingReferences() throws {
    try refer()
    #expect(a.ada?.mentor == nil)
    #expect(a.ada?.crew == [Reference("bob")])
  }

  /// Neither write shows a value.
  @Test func danglingReferenceDoesNotConflictWithUnset() throws {
    let b = Replica.empty(2)
    try a.edit { $0.mentor = Reference("bob") }
    a.tell(b)
    try b.edit { $0.unset(\.mentor) }
    try a.edit { $0.unset(\.mentor) }
    try a.edit { $0.mentor = Reference("eve") }
    settle(a, b)
    #expect(
      a.ada?.mentor == nil && a.ada?.conflictingValues(of: \.mentor) == [])
    #expect(a.conflictedFields(of: "Sailor").isEmpty)
    try a.save { $0[Sailor.self, "eve"].ensureExists() }
    #expect(a.ada?.conflictingValues(of: \.mentor) == [nil])
    #expect(a.conflictedFields(of: "Sailor").count == 1)
  }

  @Test func openingAndReceivingHideDanglingReference() throws {
    try a.edit { $0.mentor = Reference("eve") }
    let opened = Replica.opening(a.state, token: a.restoreToken, as: 7)
    #expect(opened.ada?.mentor == nil)
    let b = Replica.empty(2)
    b.apply(try #require(a.delta()), reporting: .faults)
    #expect(b.ada?.mentor == nil)
    try b.save { $0[Sailor.self, "eve"].ensureExists() }
    #expect(b.ada?.mentor == Reference("eve"))
  }

  @Test func referenceFollowsExistenceOfItsTarget() throws {
    try refer()
    for _ in 0..<2 {
      try a.save { $0[Sailor.self, "eve"].ensureExists() }
      #expect(a.ada?.mentor == Reference("eve"))
      #expect(a.ada?.crew == [Reference("bob"), Reference("eve")])
      try a.save { $0[Sailor.self, "eve"].delete() }
      #expect(a.ada?.mentor == nil)
      #expect(a.ada?.crew == [Reference("bob")])
    }
  }

  @Test func danglingReferenceDoesNotConflictWithReference() throws {
    let b = Replica.empty(2)
    try a.edit { $0.mentor = Reference("zoe") }
    try b.save { $0[Sailor.self, "eve"].name = "Eve" }
    try b.edit { $0.mentor = Reference("eve") }
    settle(a, b)
    #expect(a.ada?.mentor?.key == "eve")
    #expect(a.ada?.conflictingValues(of: \.mentor) == [])
    try a.save { $0[Sailor.self, "zoe"].name = "Zoe" }
    #expect(a.ada?.conflictingValues(of: \.mentor).map { $0?.key } == ["zoe"])
  }

  @Test func deletionRuleOfTargetDecidesWhetherReferenceShows() throws {
    let key = FieldKey("berth", .register)
    let berth = RecordID("Berth", "b")
    try a.save { transaction in
      transaction.ensureExists(berth)
      transaction.apply(.write(.reference(berth)), to: key, of: Sailor.ada)
    }
    let b = a.fork(as: DeviceID(2))
    try a.save { $0.delete(berth) }
    try b.save { $0.ensureExists(berth) }
    settle(a, b)
    #expect(
      a.record(Sailor.ada)?.value(of: FieldKey("berth", .register)) == nil)
    #expect(a.recordForEditing(Sailor.ada)[key].value == .reference(berth))
  }
}
