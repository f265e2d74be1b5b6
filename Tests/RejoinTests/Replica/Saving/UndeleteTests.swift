// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Restorations of deleted records.
@Suite(.encodes) struct UndeleteTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  private func fill() throws {
    try a.fill()
    settle(a, b)
  }

  private func checkContent(_ replica: Replica) {
    #expect(replica.ada?.name == "ada")
    #expect(replica.ada?.rank == "mate")
    #expect(replica.ada?.miles == 3)
    #expect(replica.ada?.tags == ["x"])
    #expect(replica.ada?.roles == ["y"])
    #expect(replica.ada?.pay == 4)
  }

  @Test func undeleteRestoresAllFields() throws {
    try fill()
    try a.edit { $0.delete() }
    a.tell(b)
    let dot = try b.save { transaction in
      let ada = transaction[Sailor.self, "ada"]
      #expect(ada.name == nil)
      transaction.undelete(Sailor.ada)
      #expect(ada.name == "ada")
      #expect(ada.miles.value == 3)
    }.dot
    #expect(dot == Dot(b.device, 1))
    b.tell(a)
    for replica in [a, b] { checkContent(replica) }
    #expect(areEqual(a, b))
  }

  @Test func undeleteAddsEditsOfSameSave() throws {
    try fill()
    try a.edit { $0.delete() }
    try a.save {
      $0.undelete(Sailor.ada)
      $0[Sailor.self, "ada"].miles.increment(by: 2)
    }
    #expect(a.ada?.miles == 5)
    #expect(a.ada?.name == "ada")
  }

  @Test func undeleteAfterPurgeThrowsPurged() throws {
    try fill()
    try a.edit { $0.delete() }
    settle(a, b)
    try a.purgeDeletedRecords()
    a.tell(b)
    for replica in [a, b] {
      let version = replica.version
      #expect(throws: SaveError.purged(Sailor.ada)) {
        try replica.save {
          $0.undelete(Sailor.ada)
          $0[Sailor.self, "ada"].name = "x"
        }
      }
      #expect(replica.version == version)
      #expect(replica.ada == nil)
    }
    try b.edit { $0.ensureExists() }
    #expect(b.ada?.name == nil)
  }

  /// The record contains a field of this kind.
  @Test(arguments: [0, 1, 2, 3, 4, 5])
  func undeleteThrowsPurgedForEachFieldKind(_ kind: Int) throws {
    let verbs: [(RecordEditor<Sailor>) -> Void] = [
      { $0.name = "a" }, { $0.rank = "a" }, { $0.miles.increment() },
      { $0.tags.insert("a") }, { $0.roles.insert("a") }, { $0.pay.append(1) },
    ]
    try a.edit(verbs[kind])
    try a.edit { $0.delete() }
    try a.purgeDeletedRecords()
    #expect(throws: SaveError.purged(Sailor.ada)) {
      try a.save { $0.undelete(Sailor.ada) }
    }
  }

  /// The save that deletes the record also edits fields, and purges none.
  @Test func undeleteKeepsEditsOfDeletingSave() throws {
    try fill()
    try a.edit {
      $0.tags.remove("x")
      $0.miles.reset()
      $0.rank = nil
      $0.delete()
    }
    try a.save { $0.undelete(Sailor.ada) }
    #expect(a.ada?.name == "ada")
    #expect(a.ada?.tags == [])
    #expect(a.ada?.miles == 0)
    try b.edit {
      $0.name = "late"
      $0.pay.append(1)
      $0.delete()
    }
    try b.save { $0.undelete(Sailor.ada) }
    #expect(b.ada?.name == "late")
    #expect(b.ada?.pay == 5)
  }

  @Test func undeleteRestoresOnlyRecreatedFields() throws {
    try fill()
    try a.edit { $0.delete() }
    try a.edit { $0.name = "again" }
    try a.edit { $0.delete() }
    try a.save { $0.undelete(Sailor.ada) }
    #expect(a.ada?.name == "again")
    #expect(a.ada?.miles == 0)
  }

  /// Under delete-wins, an edit that the purge had not seen stays hidden.
  @Test func lateEditDoesNotRestorePurgedRecord() throws {
    let berth = RecordID("Berth", "b")
    try a.save { $0[Berth.self, "b"].name = "one" }
    settle(a, b)
    try b.save { $0[Berth.self, "b"].name = "late" }
    try a.save { $0.delete(berth) }
    a.recordVersion(a.version, of: b.device)
    #expect(try a.purgeDeletedRecords().dot != nil)
    b.tell(a)
    #expect(!a.exists(berth))
    #expect(a.recordForEditing(berth)[Berth().name.key].value == "late")
    #expect(throws: SaveError.purged(berth)) {
      try a.save { $0.undelete(berth) }
    }
  }

  @Test func undeleteOfExistingRecordTakesDotAndKeepsFields() throws {
    try fill()
    #expect(try a.save { $0.undelete(Sailor.ada) }.dot?.sequence == 2)
    checkContent(a)
  }

  @Test func undeleteIgnoresUnknownRecord() throws {
    #expect(try a.save { $0.undelete(Sailor.ada) }.dot == nil)
    #expect(a.ada == nil)
  }

  @Test func undeleteRevertsDeletionOfSameSave() throws {
    try fill()
    try a.save { transaction in
      let ada = transaction[Sailor.self, "ada"]
      ada.name = "new"
      ada.delete()
      transaction.undelete(Sailor.ada)
      #expect(ada.name == "new")
    }
    #expect(a.ada?.name == "new")
    #expect(a.ada?.miles == 3)
  }

  @Test func concurrentRecreationDropsFieldsOfUndeletedRecord() throws {
    try fill()
    try a.edit { $0.delete() }
    settle(a, b)
    try a.save { $0.undelete(Sailor.ada) }
    try b.edit { $0.name = "again" }
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.ada?.name == "again")
    #expect(a.ada?.miles == 0)
  }
}
