// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Record IDs that are derived from a unique key, so two creations are one
/// record.
@Suite struct UniqueConstraintTests {
  private func insertingContext(
    _ scene: Scene, _ policy: MergePolicy
  ) throws -> EditingContext {
    let context = EditingContext(scene.mine, mergePolicy: policy)
    let mine = context.fetch(Person.self, key: "a@b.c")
    mine.name = "Ann"
    context.set(.null, for: Person().phone.key, in: RecordID("Person", "a@b.c"))
    try scene.other.save { transaction in
      transaction[Person.self, "a@b.c"].name = "Anna"
      transaction[Person.self, "a@b.c"].phone = "5"
      transaction[Person.self, "a@b.c"].address = "theirs"
    }
    scene.receive()
    return context
  }

  @Test func mergeNonNilWritesFieldsWithValue() throws {
    let scene = Scene()
    let report = try insertingContext(scene, .mergeNonNil).save()
    let person = try #require(scene.mine[Person.self, "a@b.c"])
    #expect(report.names == ["name"])
    #expect(person.name == "Ann")
    #expect(person.conflictingValues(of: \.name) == ["Anna"])
    #expect(person.phone == "5")
    #expect(person.address == "theirs")
    #expect(scene.mine.recordIDs(of: "Person").count == 1)
  }

  @Test func mergeNonNilReportsDroppedNils() throws {
    let report = try insertingContext(Scene(), .mergeNonNil).save()
    let change = try #require(report.dropped.first)
    #expect(report.dropped.count == 1)
    #expect(change.field == Person().phone.key)
    guard case .value(let dropped, let kept) = change.content else {
      Issue.record("no value was dropped")
      return
    }
    #expect(dropped.value == .null)
    #expect(kept.value == "5" && kept.device == DeviceID(2))
  }

  @Test func objectTrumpWritesNils() throws {
    let scene = Scene()
    let report = try insertingContext(
      scene, .mergeByPropertyObjectTrump
    ).save()
    #expect(report.names == ["name", "phone"])
    #expect(scene.mine[Person.self, "a@b.c"]?.phone == nil)
  }

  @Test func errorRefusesInsertion() throws {
    let context = try insertingContext(Scene(), .error)
    #expect(throws: ContextSaveError.self) { try context.save() }
  }

  @Test func insertionsOnTwoDevicesBecomeOneRecord() throws {
    let scene = Scene()
    for (replica, name) in [(scene.mine, "Ann"), (scene.other, "Anna")] {
      let context = EditingContext(replica, mergePolicy: .mergeNonNil)
      context.fetch(Person.self, key: "a@b.c").name = name
      #expect(try context.save().conflicts.isEmpty)
    }
    scene.receive()
    scene.send()
    for replica in [scene.mine, scene.other] {
      #expect(replica.recordIDs(of: "Person").count == 1)
      #expect(replica[Person.self, "a@b.c"]?.name == "Anna")
      #expect(
        replica[Person.self, "a@b.c"]?.conflictingValues(of: \.name) == ["Ann"])
    }
  }

  @Test func mergeNonNilWritesNilOfFetchedRecord() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.mergeNonNil, name: nil)
    try scene.otherEdits { $0.name = "theirs" }
    #expect(try context.save().names == ["name"])
    #expect(scene.item?.name == nil)
    #expect(scene.nameConflicts == ["theirs"])
  }
}
