// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

private let instances = Locked(0)

private struct Counted: Entity {
  let name = register("name", of: String.self)

  init() { instances.withLock { $0 += 1 } }
}

private struct Empty: Entity {}

private struct Guest: Entity {
  let visits = counter("visits")
  private let whicheverName = DeletionRule.deleteWins
}

private struct Member: Entity {
  let deletions = DeletionRule.updateWins
  let visits = counter("visits")
}

private struct Loose: Entity {
  let age = register("age", of: Value.self)

  static let entityName = "Pet"
}

private struct Pet: Entity {
  let age = register("age", of: Int?.self)
  let size = lww("size", of: Int?.self)
}

@Suite(.encodes) struct EntityTests {
  private func replica(_ schema: Schema) -> Replica {
    Replica(
      device: DeviceID(1), schema: schema, wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(99) })
  }

  @Test func schemaListsFieldsOfEntities() {
    let schema: Schema = [Sailor.self, Berth.self, Empty.self]
    #expect(
      schema["Sailor"].fields == [
        FieldKey("name", .register), FieldKey("rank", .register),
        FieldKey("miles", .counter), FieldKey("tags", .set),
        FieldKey("roles", .set), FieldKey("pay", .ledger),
        FieldKey("mentor", .register), FieldKey("crew", .set),
      ])
    #expect(schema["Sailor"].quietFields == [Sailor().rank.key])
    #expect(schema["Berth"].fields == [FieldKey("name", .register)])
    #expect(schema["Berth"].deletion == .deleteWins)
    #expect(schema["Empty"].fields.isEmpty)
    #expect(schema["Sailor"].field(named: "miles") == Sailor().miles.key)
  }

  @Test func schemaFindsDeletionRuleUnderAnyName() {
    let schema: Schema = [Guest.self, Member.self, Empty.self]
    #expect(schema["Guest"].deletion == .deleteWins)
    #expect(schema["Guest"].fields == [FieldKey("visits", .counter)])
    #expect(schema["Member"].deletion == .updateWins)
    #expect(schema["Member"].fields == [FieldKey("visits", .counter)])
    #expect(schema["Empty"].deletion == .updateWins)
  }

  @Test func fieldsAreCreatedOnce() throws {
    let replica = replica([Counted.self])
    let made = instances.withLock { $0 }
    for i in 0..<3 {
      try replica.save { $0[Counted.self, "a"].name = "\(i)" }
      #expect(replica[Counted.self, "a"]?.name == "\(i)")
    }
    #expect(instances.withLock { $0 } == made)
  }

  @Test func undeclaredEntityIsReadByNameOnly() async throws {
    let (a, b) = (replica([Sailor.self]), replica([]))
    try a.edit { $0.name = "Ada" }
    a.tell(b)
    #expect(
      b.record(Sailor.ada)?.value(of: FieldKey("name", .register)) == "Ada")
    #expect(b.recordIDs(of: "Sailor") == [Sailor.ada])
    let process = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Replica.empty(1)[Empty.self, "a"]
    }
    let error = String(
      decoding: try #require(process).standardErrorContent, as: UTF8.self)
    #expect(error.contains("does not declare the entity"))
  }

  @Test func writingUndeclaredEntityByNameTraps() async {
    await #expect(processExitsWith: .failure) {
      try Replica.empty(1).save {
        $0.apply(
          .write("x"), to: FieldKey("name", .register),
          of: RecordID("Empty", "a"))
      }
    }
    await #expect(processExitsWith: .failure) {
      try Replica.empty(1).save { $0.delete(RecordID("Empty", "a")) }
    }
    await #expect(processExitsWith: .failure) {
      try Replica.empty(1).save { $0.undelete(RecordID("Empty", "a")) }
    }
    await #expect(processExitsWith: .failure) {
      try Replica.empty(1).importRows {
        $0.ensureExists(RecordID("Empty", "a"))
      }
    }
    await #expect(processExitsWith: .failure) {
      let replica = Replica.empty(1)
      let id = RecordID("Empty", "a")
      try replica.save {
        $0.ensureExists(
          id, observed: replica.recordForEditing(id)[.existence],
          recreatingWith: nil)
      }
    }
    await #expect(processExitsWith: .failure) {
      let replica = Replica.empty(1)
      let id = RecordID("Empty", "a")
      try replica.save {
        let shown = replica.recordForEditing(id)
        $0.delete(id, observed: shown[.existence], seen: shown.clock)
      }
    }
  }

  /// Writing `nil` unsets the register, and an unset register reads as `nil`.
  @Test func optionalRegisterReadsAsSingleOptional() throws {
    let replica = replica([Pet.self])
    try replica.save { transaction in
      (transaction[Pet.self, "a"].age, transaction[Pet.self, "a"].size) = (3, 4)
      let age: Int? = transaction[Pet.self, "a"].age
      #expect(age == 3)
    }
    let age: Int? = replica[Pet.self, "a"]?.age
    let size: Int? = replica[Pet.self, "a"]?.size
    #expect((age, size) == (3, 4))
    try replica.save { $0[Pet.self, "a"].age = nil }
    #expect(
      replica.recordForEditing(RecordID("Pet", "a"))[Pet().age.key].value == nil
    )
    #expect(replica[Pet.self, "a"]?.age == nil)
    #expect(Pet().age.key == FieldKey("age", .register))
    #expect(Pet().size.key == FieldKey("size", .register))
  }

  @Test func nullIsReadAsValue() throws {
    let replica = replica([Loose.self])
    try replica.save { $0[Loose.self, "a"].ensureExists() }
    #expect(replica[Loose.self, "a"]?.age == nil)
    try replica.save { $0[Loose.self, "a"].age = .null }
    #expect(replica[Loose.self, "a"]?.age == .some(.null))
    #expect(replica[Pet.self, "a"]?.age == nil)
  }
}
