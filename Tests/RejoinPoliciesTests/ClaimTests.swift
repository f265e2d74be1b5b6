// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// The context edits the name and the phone.
///
/// The other device edits the phone and the address.
private struct Contest {
  static let id = RecordID("Person", "taylor")
  static let name = FieldKey("name", .register)
  static let phone = FieldKey("phone", .register)
  static let address = FieldKey("address", .register)

  let scene = Scene()
  let context: EditingContext

  init(_ policy: MergePolicy) throws {
    try scene.mine.save { transaction in
      for key in [Self.name, Self.phone, Self.address] {
        transaction.apply(.write("fetched"), to: key, of: Self.id)
      }
    }
    scene.send()
    context = EditingContext(scene.mine, mergePolicy: policy)
    context.set("mine", for: Self.name, in: Self.id)
    context.set("mine", for: Self.phone, in: Self.id)
    try scene.other.save { transaction in
      transaction.apply(.write("theirs"), to: Self.phone, of: Self.id)
      transaction.apply(.write("theirs"), to: Self.address, of: Self.id)
    }
    scene.receive()
  }

  /// The stored name, phone and address.
  var stored: [Value?] {
    [Self.name, Self.phone, Self.address].map {
      scene.mine.recordForEditing(Self.id)[$0].value
    }
  }
}

@Suite("claim 3: a policy that throws loses nothing")
struct ThrowingClaim {
  @Test func everyEditSurvivesThrow() throws {
    let contest = try Contest(.error)
    let context = contest.context
    context.apply(.count(by: 5), to: Key.qty, in: Scene.item)
    context.delete(RecordID("Item", "other"))
    let clock = contest.scene.mine.version
    #expect(throws: ContextSaveError.self) { try context.save() }
    #expect(contest.scene.mine.version == clock, "nothing is written")
    #expect(context.value(of: Contest.name, in: Contest.id) == "mine")
    #expect(context.value(of: Contest.phone, in: Contest.id) == "mine")
    #expect(context.count(of: Key.qty, in: Scene.item) == 5)
    context.mergePolicy = .merge
    try context.save()
    #expect(contest.stored == ["mine", "mine", "theirs"])
    #expect(contest.scene.item?.qty == 5)
  }
}

@Suite("claim 4: trump decides per property, and disjoint edits are merged")
struct TrumpClaim {
  @Test func objectTrumpWritesMine() throws {
    let contest = try Contest(.mergeByPropertyObjectTrump)
    try contest.context.save()
    #expect(contest.stored == ["mine", "mine", "theirs"])
  }

  @Test func storeTrumpKeepsStore() throws {
    let contest = try Contest(.mergeByPropertyStoreTrump)
    try contest.context.save()
    #expect(contest.stored == ["mine", "theirs", "theirs"])
  }
}

@Suite("claim 5: overwrite writes every property, rollback discards all edits")
struct WholeObjectClaim {
  @Test func overwriteReplacesUncontestedFields() throws {
    let contest = try Contest(.overwrite)
    try contest.context.save()
    #expect(contest.stored == ["mine", "mine", "fetched"])
  }

  @Test func rollbackDiscardsEveryEdit() throws {
    let contest = try Contest(.rollback)
    let report = try contest.context.save()
    #expect(contest.stored == ["fetched", "theirs", "theirs"])
    #expect(report.dropped.map { $0.field?.name } == ["name", "phone"])
  }
}

@Suite("claim 6: a context inherits no policy")
struct PolicyPerContextClaim {
  @Test func contextsOfOneReplicaUseTheirOwnPolicies() throws {
    let contest = try Contest(.mergeByPropertyStoreTrump)
    let second = EditingContext(contest.scene.mine)
    #expect(second.mergePolicy.name == "error")
    second.mergePolicy = .mergeByPropertyObjectTrump
    second.set("second", for: Contest.phone, in: Contest.id)
    try contest.scene.mine.save {
      $0.apply(.write("since"), to: Contest.phone, of: Contest.id)
    }
    try contest.context.save()
    #expect(contest.stored[1] == "since", "the store wins in the first")
    try second.save()
    #expect(contest.stored[1] == "second", "the object wins in the second")
  }
}

@Suite("claim 7: a context without a refresh shows the fetched values")
struct RefreshClaim {
  @Test func contextIsStaleUntilRefresh() throws {
    let contest = try Contest(.error)
    let context = contest.context
    func shown(_ key: FieldKey) -> Value? {
      context.value(of: key, in: Contest.id)
    }
    #expect(shown(Contest.address) == "fetched", "stale")
    context.refresh()
    #expect(shown(Contest.address) == "theirs")
    #expect(shown(Contest.phone) == "mine", "the edited value stays")
  }

  @Test func automaticMergingKeepsContextCurrent() throws {
    let contest = try Contest(.error)
    contest.context.automaticallyMergesChangesFromParent = true
    #expect(
      contest.context.value(of: Contest.address, in: Contest.id) == "theirs")
  }
}

@Suite("claim 22: policies have the effect that their names promise")
struct StrategyClaim {
  @Test func serverWins() throws {
    let contest = try Contest(.serverWins)
    try contest.context.save()
    #expect(contest.stored == ["fetched", "theirs", "theirs"])
  }

  /// The clock of the other device is correct, or ahead by a day.
  @Test(arguments: [(Int64(5000), "mine"), (86_400_000, "theirs")])
  func lastWriteWinsComparesTimes(_ clock: Int64, _ winner: String) throws {
    let scene = try Scene.withItem(otherClock: clock)
    let context = scene.context(.lastWriteWins)
    try scene.otherEdits(Key.name, .write("theirs"))
    let report = try context.save()
    #expect(scene.item?.name == winner && scene.nameConflicts == [])
    #expect(report.dropped.count == 1, "the other value is reported")
  }

  @Test func manualQueuesConflicts() throws {
    let contest = try Contest(.manual)
    let context = contest.context
    try context.save()
    #expect(contest.stored == ["mine", "theirs", "theirs"])
    #expect(
      context.pendingConflicts.flatMap(\.contested).map(\.field) == ["phone"])
    try context.resolve(Contest.id, [Contest.phone: "settled"])
    #expect(contest.stored[1] == "settled" && context.pendingConflicts.isEmpty)
  }

  @Test func mergeKeepsBothValues() throws {
    let contest = try Contest(.merge)
    let report = try contest.context.save()
    #expect(contest.stored == ["mine", "mine", "theirs"])
    #expect(report.dropped.isEmpty)
    let record = contest.scene.mine.record(Contest.id)
    #expect(
      record?.conflictingValues(of: FieldKey("phone", .register)) == ["theirs"])
  }
}

@Suite("claim 23: pending changes survive older rows and are sent later")
struct PendingClaim {
  @Test func olderRowsDoNotOverwritePendingEdits() throws {
    let scene = try Scene.withItem(otherClock: 1)
    let context = scene.context(.merge)
    try scene.otherEdits(Key.name, .write("older"))
    context.refresh()
    #expect(context.value(of: Key.name, in: Scene.item) == "mine")
    try context.save()
    #expect(scene.item?.name == "mine" && scene.nameConflicts == ["older"])
  }

  @Test func deltaContainsUnsentSave() throws {
    let scene = try Scene.withItem()
    #expect(scene.mine.delta(since: scene.other.version) == nil)
    try scene.context(.error).save()
    #expect(scene.mine.delta(since: scene.other.version) != nil, "unsent")
    scene.send()
    #expect(scene.other[Item.self, "1"]?.name == "mine")
    #expect(scene.mine.delta(since: scene.other.version) == nil)
  }
}

@Suite("claim 24: a second insert does not erase an expensive field")
struct UniqueKeyClaim {
  private static let ann = RecordID("Person", "a@b.c")
  private static let name = FieldKey("name", .register)
  private static let photo = FieldKey("photo", .register)
  private static let friends = FieldKey("friends", .set)

  private func insert(
    _ replica: Replica, _ name: Value, photo: Value?
  ) throws {
    let context = EditingContext(replica, mergePolicy: .mergeNonNil)
    context.set(name, for: Self.name, in: Self.ann)
    context.set(photo, for: Self.photo, in: Self.ann)
    if photo != nil {
      context.apply(
        .inserting(.reference(Scene.item)), to: Self.friends, in: Self.ann)
    }
    try context.save()
  }

  @Test func photoStaysOnBothDevices() throws {
    let scene = Scene()
    try insert(scene.mine, "Ann", photo: .bytes([1]))
    try insert(scene.other, "Anna", photo: nil)
    scene.send()
    scene.receive()
    for replica in [scene.mine, scene.other] {
      let ann = replica.recordForEditing(Self.ann)
      #expect(ann[Self.photo].value == .bytes([1]))
      #expect(ann[Self.friends].elements == [.reference(Scene.item)])
      #expect(replica.recordIDs(of: "Person") == [Self.ann])
    }
  }

  @Test(arguments: [nil, Value.null])
  func secondInsertionKeepsPhotoOfFirst(
    _ photo: Value?
  ) throws {
    let scene = Scene()
    let context = EditingContext(scene.mine, mergePolicy: .mergeNonNil)
    context.set("Anna", for: Self.name, in: Self.ann)
    context.set(photo, for: Self.photo, in: Self.ann)
    try insert(scene.other, "Ann", photo: .bytes([1]))
    scene.receive()
    let report = try context.save()
    let ann = scene.mine.recordForEditing(Self.ann)
    #expect(ann[Self.name].value == "Anna")
    #expect(ann[Self.photo].value == .bytes([1]))
    #expect(ann[Self.friends].elements.count == 1)
    #expect(report.dropped.map(\.field) == (photo == nil ? [] : [Self.photo]))
  }
}
