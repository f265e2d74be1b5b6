// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

@Suite(.encodes) struct TypedRecordTests {
  private let replica = Replica.empty(1)
  private let other = Replica.empty(2)

  private func names(_ keys: String...) throws {
    for key in keys {
      try replica.save { $0[Sailor.self, key].name = "name of \(key)" }
    }
  }

  /// Lists all keys, the first one, and those after it.
  private func keys(in replica: some ReadableReplica) -> [[String]] {
    [
      replica.records(of: Sailor.self),
      replica.records(of: Sailor.self, limit: 1),
      replica.records(of: Sailor.self, after: "a"),
    ].map { $0.map(\.id) }
  }

  @Test func recordsAreListedInKeyOrder() throws {
    try names("c", "a", "d", "b")
    try replica.save { $0[Sailor.self, "b"].delete() }
    try replica.save { $0[Berth.self, "a"].name = "another entity" }
    let all = replica.records(of: Sailor.self)
    #expect(all.map(\.id) == ["a", "c", "d"])
    #expect(all.map(\.name) == ["name of a", "name of c", "name of d"])
    let page = replica.records(of: Sailor.self, after: "a", limit: 1)
    #expect(page.map(\.id) == ["c"])
    #expect(replica.records(of: Sailor.self, limit: 0).isEmpty)
    #expect(
      keys(in: ReplicaView(replica)) == [["a", "c", "d"], ["a"], ["c", "d"]])
    #expect(
      replica.recordIDs(of: Sailor.self, after: "a")
        == ["c", "d"].map { RecordID("Sailor", $0) })
  }

  @Test func equalityComparesShownContent() throws {
    try names("ada")
    let before = try #require(replica.ada)
    // A second write of an equal value does not change the shown content.
    try names("ada")
    #expect(try #require(replica.ada) == before)
    try replica.edit { $0.miles.increment() }
    let counted = try #require(replica.ada)
    #expect(counted != before)
    try replica.edit { $0.miles.decrement() }
    #expect(try #require(replica.ada) == before)
    try replica.edit { $0.tags.insert("x") }
    #expect(try #require(replica.ada) != before)
    try replica.edit { $0.tags.remove("x") }
    try replica.edit { $0.pay.append(5) }
    let paid = try #require(replica.ada)
    try replica.edit { editor in
      editor.pay.append(-2)
      editor.pay.append(2)
    }
    // The totals are equal, but the entries differ.
    #expect(try #require(replica.ada) != paid)
  }

  @Test func equalityComparesConflicts() throws {
    try names("ada")
    replica.tell(other)
    try replica.edit { $0.name = "A" }
    try other.edit { $0.name = "B" }
    let without = try #require(other.ada)
    replica.tell(other)
    let with = try #require(other.ada)
    #expect(with.name == without.name && with != without)
    // A quiet register lists no conflicts.
    try replica.edit { $0.rank = "A" }
    try other.edit { $0.rank = "B" }
    let quiet = try #require(other.ada)
    replica.tell(other)
    #expect(try #require(other.ada) == quiet)
  }

  @Test func recordsOfDifferentKeysAreNotEqual() throws {
    try replica.save { transaction in
      transaction[Sailor.self, "a"].name = "Ada"
      transaction[Sailor.self, "b"].name = "Ada"
    }
    let all = replica.records(of: Sailor.self)
    #expect(all[0] != all[1])
  }

  @Test(arguments: ["id", "record"])
  func fieldNamedLikeRecordPropertyTraps(_ name: String) async {
    struct Badge: Entity {
      let id = register("id", of: String.self)
    }
    struct Disc: Entity {
      let record = register("record", of: String.self)
    }
    if name == "id" {
      await #expect(processExitsWith: .failure) { _ = [Badge.self] as Schema }
    } else {
      await #expect(processExitsWith: .failure) { _ = [Disc.self] as Schema }
    }
  }
}

/// Writes to records that do not exist.
@Suite(.encodes) struct MissingRecordTests {
  private let replica = Replica.empty(1)

  @Test func existingIsNilAfterDeletion() throws {
    try replica.edit { $0.name = "Ada" }
    try replica.edit { $0.delete() }
    try replica.save { transaction in
      transaction.existing(Sailor.self, "ada")?.miles.increment()
    }
    #expect(replica.ada == nil)
    // The subscript creates the record, with this field alone.
    try replica.edit { $0.miles.increment() }
    #expect(replica.ada?.miles == 1 && replica.ada?.name == nil)
  }

  @Test func existingSeesEditsOfSave() throws {
    try replica.save { transaction in
      #expect(transaction.existing(Sailor.self, "ada") == nil)
      transaction[Sailor.self, "ada"].name = "Ada"
      transaction.existing(Sailor.self, "ada")?.miles.increment()
      transaction[Sailor.self, "ada"].delete()
      #expect(transaction.existing(Sailor.self, "ada") == nil)
    }
    #expect(replica.ada == nil)
    try replica.edit { $0.name = "Ada" }
    try replica.save { $0.existing(Sailor.self, "ada")?.name = "Ada L." }
    #expect(replica.ada?.name == "Ada L.")
  }

  @Test func emptyKeyIsRefused() throws {
    let error = SaveError.emptyKey(entity: "Sailor")
    #expect(throws: error) {
      try replica.save { $0[Sailor.self, ""].name = "nobody" }
    }
    #expect(throws: error) {
      try replica.save { $0[Sailor.self, ""].ensureExists() }
    }
    #expect(throws: error) {
      try replica.importRows { $0[Sailor.self, ""].name = "nobody" }
    }
    #expect(throws: error) {
      try replica.save {
        $0.ensureExists(
          RecordID("Sailor", ""), observed: FieldState(.existence),
          recreatingWith: nil)
      }
    }
    #expect(replica.delta() == nil)
  }

  @Test func deviceIDDescriptionIsReadBack() {
    let devices = [
      DeviceID(0), DeviceID(1), DeviceID(high: .max, low: .max),
      DeviceID(name: "phone"), DeviceID(name: "exactly 16 bytes"),
      DeviceID(name: "tab\tlet"), DeviceID(name: "é"),
      DeviceID(name: "0123456789abcdef"),
    ]
    for device in devices.compactMap(\.self) {
      #expect(DeviceID(device.description) == device)
    }
    for text in ["", "tab\tlet", "seventeen letters", "é", "a b", "phone\0"] {
      #expect(DeviceID(text) == nil)
    }
  }
}
