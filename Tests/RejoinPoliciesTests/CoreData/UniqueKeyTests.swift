// SPDX-License-Identifier: Apache-2.0

import CoreData
import Foundation
import Rejoin
import RejoinPolicies
import Testing

/// Two objects are inserted under one unique key.
@Suite struct UniqueKeyTests {
  /// Inserts a person with every property in the other context.
  private func insertFull(
    _ scene: Scene, in context: NSManagedObjectContext
  ) -> NSManagedObject {
    let full = scene.insert(
      scene.person, in: context,
      [
        "email": "a@b.c", "name": "Anna", "photo": Data([1, 2]),
        "visits": Int64(7),
      ])
    full.setValue(
      scene.insert(scene.team, in: context, ["title": "red"]), forKey: "team")
    full.setValue(
      Set([scene.insert(scene.tag, in: context, ["title": "old"])]),
      forKey: "tags")
    full.setValue(
      NSOrderedSet(
        object: scene.insert(scene.note, in: context, ["title": "first"])),
      forKey: "notes")
    return full
  }

  /// Inserts the person without the photo and with other relationships.
  private func insertBare(_ scene: Scene) -> NSManagedObject {
    let bare = scene.insert(
      scene.person, in: scene.mine, ["email": "a@b.c", "name": "Ann"])
    bare.setValue(
      scene.insert(scene.badge, in: scene.mine, ["title": "gold"]),
      forKey: "badge")
    bare.setValue(
      Set([scene.insert(scene.tag, in: scene.mine, ["title": "new"])]),
      forKey: "tags")
    bare.setValue(
      NSOrderedSet(
        object: scene.insert(scene.note, in: scene.mine, ["title": "second"])),
      forKey: "notes")
    return bare
  }

  private func isDropping(_ policy: MergePolicy) -> Bool {
    switch policy {
    case .rollback, .serverWins: true
    default: false
    }
  }

  /// Checks the name, which both contexts set, and the badge, which only `mine`
  /// set.
  private func expectMerged(_ scene: Scene, _ policy: MergePolicy) throws {
    #expect(scene.people.count == 1)
    let saved = try #require(scene.people.first)
    let keepsStore =
      switch policy {
      case .mergeByPropertyStoreTrump, .manual, .rollback, .serverWins: true
      default: false
      }
    #expect(saved["email"] == "a@b.c")
    #expect(saved["name"] == (keepsStore ? "Anna" : "Ann"))
    #expect(saved.value(forKey: "photo") as? Data == Data([1, 2]))
    #expect(saved.value(forKey: "visits") as? Int64 == 7, "0 is the default")
    #expect(saved.title(of: "team") == "red")
    let isDropping = isDropping(policy)
    #expect(saved.title(of: "badge") == (isDropping ? nil : "gold"))
    #expect(
      saved.titles(of: "tags") == (isDropping ? ["old"] : ["new", "old"]))
    #expect(
      saved.titles(of: "notes")
        == (isDropping ? ["first"] : ["first", "second"]))
  }

  @Test(arguments: MergePolicy.named)
  func insertedObjectMergesWithSavedOne(_ policy: MergePolicy) throws {
    let scene = Scene(policy)
    _ = insertFull(scene, in: scene.other)
    let bare = insertBare(scene)
    try scene.other.save()
    if case .error = policy {
      #expect(throws: NSError.self) { try scene.mine.save() }
      #expect(bare["name"] == "Ann" && scene.people.first?["name"] == "Anna")
      return
    }
    try scene.mine.save()
    try expectMerged(scene, policy)
  }

  @Test(arguments: MergePolicy.named)
  func insertedObjectsMergeWithEachOther(_ policy: MergePolicy) throws {
    let scene = Scene(policy)
    let full = insertFull(scene, in: scene.mine)
    _ = insertBare(scene)
    if case .error = policy {
      #expect(throws: NSError.self) { try scene.mine.save() }
      #expect(full["email"] == "a@b.c" && scene.people.isEmpty)
      return
    }
    try scene.mine.save()
    try expectMerged(scene, policy)
  }

  @Test func fullObjectFillsGapsOfBareOne() throws {
    let scene = Scene(.mergeNonNil)
    _ = insertBare(scene)
    let full = insertFull(scene, in: scene.mine)
    try scene.mine.save()
    let saved = try #require(scene.people.first)
    #expect(saved["name"] == "Anna" && saved.title(of: "badge") == "gold")
    #expect(saved.value(forKey: "photo") as? Data == Data([1, 2]))
    #expect(saved.value(forKey: "visits") as? Int64 == 7)
    #expect(saved.title(of: "team") == "red")
    #expect(saved.titles(of: "notes") == ["second", "first"])
    #expect(full.managedObjectContext == nil, "merged into the first")
  }

  @Test func threeObjectsBecomeOne() throws {
    let scene = Scene(.mergeByPropertyObjectTrump)
    for name in ["one", "two", "three"] {
      _ = scene.insert(
        scene.person, in: scene.mine,
        ["email": "a", name == "two" ? "phone" : "name": name])
    }
    try scene.mine.save()
    #expect(scene.people.count == 1)
    #expect(scene.people.first?["name"] == "three")
    #expect(scene.people.first?["phone"] == "two")
  }

  @Test func newObjectMergesIntoRenamedObject() throws {
    let scene = Scene(.mergeByPropertyObjectTrump)
    let new = scene.insert(
      scene.person, in: scene.mine, ["email": "b", "name": "new"])
    let saved = scene.insert(
      scene.person, in: scene.other, ["email": "a", "name": "saved"])
    try scene.other.save()
    let mine = scene.mine.object(with: saved.objectID)
    mine.setValue("b", forKey: "email")
    try scene.mine.save()
    #expect(scene.people.map { $0["name"] } == ["new"])
    #expect(new.managedObjectContext == nil && !mine.isDeleted)
  }

  @Test func newObjectMergesIntoObjectThatTookKey() throws {
    let scene = Scene(.mergeByPropertyObjectTrump)
    let people = ["a", "b"].map {
      scene.insert(scene.person, in: scene.mine, ["email": $0, "name": $0])
    }
    try scene.mine.save()
    people[1].setValue("a", forKey: "email")
    _ = scene.insert(
      scene.person, in: scene.mine, ["email": "a", "phone": "3"])
    try scene.mine.save()
    #expect(scene.people.map { $0["name"] } == ["b"])
    #expect(scene.people.first?["phone"] == "3")
  }

  @Test(arguments: MergePolicy.named)
  func renameToUsedKeyLosesNothing(_ policy: MergePolicy) throws {
    let scene = Scene(policy)
    let first = scene.insert(
      scene.person, in: scene.mine, ["email": "a", "name": "A"])
    _ = scene.insert(
      scene.person, in: scene.mine, ["email": "b", "photo": Data([3])])
    try scene.mine.save()
    first.setValue("b", forKey: "email")
    first.setValue("renamed", forKey: "name")
    try? scene.mine.save()
    switch policy {
    case .error:
      #expect(scene.people.map { $0["name"] } == ["A", ""])
    case .mergeByPropertyStoreTrump, .rollback, .serverWins, .manual:
      #expect(scene.people.map { $0["email"] } == ["a", "b"])
      #expect(scene.people.first?["name"] == "renamed")
    default:
      #expect(scene.people.map { $0["email"] } == ["b"])
      #expect(scene.people.first?["name"] == "renamed")
      #expect(
        scene.people.first?.value(forKey: "photo") as? Data == Data([3]))
    }
  }
}
