// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct RecreationTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  private func fill(_ replica: Replica) throws {
    try replica.fill(name: "old", rank: "old", tag: "old", role: "old")
  }

  @Test func recreationDropsSeenFields() throws {
    try fill(a)
    try a.save { $0[Sailor.self, "ada"].delete() }
    #expect(a.ada == nil)
    try a.save { $0[Sailor.self, "ada"].ensureExists() }
    settle(a, b)
    for replica in [a, b] {
      #expect(replica.ada?.name == nil)
      #expect(replica.ada?.rank == nil)
      #expect(replica.ada?.miles == 0)
      #expect(replica.ada?.tags == [])
      #expect(replica.ada?.roles == [])
      #expect(replica.ada?.pay == 0)
      #expect(replica.ada?.conflictingValues(of: \.name) == [])
    }
  }

  @Test func recreationDoesNotWriteEmptyFields() throws {
    try fill(a)
    try a.edit { $0.delete() }
    try a.edit { $0.name = "again" }
    try a.edit { $0.delete() }
    let version = a.version
    try a.edit { $0.name = "and again" }
    #expect(a.delta(since: version)?.fieldCount == 2)
  }

  /// The app creates the record again as it was fetched.
  @Test func recreationKeepsUnfetchedFields() throws {
    let berth = RecordID("Berth", "b")
    let (name, note) = (Berth().name.key, FieldKey("note", .register))
    try a.save { $0.apply(.write(.string("old")), to: name, of: berth) }
    a.tell(b)
    try a.save { $0.delete(berth) }
    let fetched = a.recordForEditing(berth)
    try b.save { $0.apply(.write(.string("new")), to: note, of: berth) }
    b.tell(a)
    try a.save { transaction in
      transaction.ensureExists(
        berth, observed: fetched[.existence],
        recreatingWith: Dictionary(
          uniqueKeysWithValues: fetched.fields.map { ($0, fetched[$0]) }))
    }
    #expect(a.exists(berth))
    #expect(a.recordForEditing(berth)[name].value == nil)
    #expect(a.recordForEditing(berth)[note].value == .string("new"))
  }

  @Test func recreationKeepsEditsOfSameSave() throws {
    try fill(a)
    try a.save { $0[Sailor.self, "ada"].delete() }
    try a.edit {
      #expect($0.name == nil)
      #expect($0.miles.value == 0)
      ($0.name, $0.rank) = ("new", "new")
      $0.miles.increment(by: 10)
      $0.tags.insert("new")
      $0.roles.insert("new")
      $0.pay.append(40)
    }
    a.tell(b)
    #expect(b.ada?.name == "new")
    #expect(b.ada?.rank == "new")
    #expect(b.ada?.miles == 10)
    #expect(b.ada?.tags == ["new"])
    #expect(b.ada?.roles == ["new"])
    #expect(b.ada?.pay == 40)
  }

  @Test func recreationKeepsConcurrentEdits() throws {
    try fill(a)
    a.tell(b)
    try b.edit {
      $0.name = "from b"
      $0.miles.increment(by: 10)
      $0.tags.insert("from b")
      $0.pay.append(40)
    }
    try a.save { $0[Sailor.self, "ada"].delete() }
    try a.save { $0[Sailor.self, "ada"].ensureExists() }
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.ada?.name == "from b")
    #expect(a.ada?.miles == 10)
    #expect(a.ada?.tags == ["from b"])
    #expect(a.ada?.pay == 40)
  }

  @Test func deletingAndCreatingInOneSaveDropsSeenFields() throws {
    try fill(a)
    let dot = try a.edit {
      $0.tags.insert("in between")
      $0.delete()
      $0.name = "new"
    }.dot
    #expect(dot == Dot(a.device, 2))
    #expect(a.ada?.name == "new")
    #expect(a.ada?.miles == 0)
    #expect(a.ada?.tags == [])
  }

  @Test func deletionDoesNotDropFields() throws {
    try fill(a)
    a.tell(b)
    try a.save { $0[Sailor.self, "ada"].delete() }
    try b.edit { $0.tags.insert("b") }
    settle(a, b)
    #expect(a.ada?.name == "old")
    #expect(a.ada?.miles == 3)
    #expect(a.ada?.tags == ["b", "old"])
  }

  @Test func deleteWinsRuleHidesConcurrentEdit() throws {
    try a.save { $0[Berth.self, "b"].name = "one" }
    a.tell(b)
    try a.save { $0[Berth.self, "b"].delete() }
    try b.save { $0[Berth.self, "b"].name = "two" }
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a[Berth.self, "b"] == nil)
    try a.save { $0[Berth.self, "b"].ensureExists() }
    settle(a, b)
    #expect(b[Berth.self, "b"] != nil)
    #expect(b[Berth.self, "b"]?.name == nil)
  }

  @Test func ensureExistsUnawareOfDeletionKeepsFields() throws {
    try fill(a)
    let shown = a.recordForEditing(Sailor.ada)
    try a.save { $0[Sailor.self, "ada"].delete() }
    try a.save {
      $0.ensureExists(
        Sailor.ada, observed: shown[.existence], recreatingWith: nil)
    }
    #expect(a.ada?.name == "old")
    let marks = a.recordForEditing(Sailor.ada)[.existence].marks
    #expect(marks.map(\.kind) == [.deletion, .alive])
  }
}
