// SPDX-License-Identifier: Apache-2.0

import CoreData
import CoreDataPolicy
import Foundation
import Rejoin
import RejoinPolicies
import Testing

@Suite("claim 24: in Core Data, a second insert erases no expensive field")
struct CoreDataUniqueKeyClaim {
  @Test func photoAndRelationshipsStay() throws {
    let scene = Scene(.mergeNonNil)
    let full = scene.insert(
      scene.person, in: scene.other,
      ["email": "a@b.c", "name": "Ann", "photo": Data([1])])
    full.setValue(
      scene.insert(scene.team, in: scene.other, ["title": "red"]),
      forKey: "team")
    full.setValue(
      Set([scene.insert(scene.tag, in: scene.other, ["title": "old"])]),
      forKey: "tags")
    try scene.other.save()
    _ = scene.insert(
      scene.person, in: scene.mine, ["email": "a@b.c", "name": "Ann B."])
    try scene.mine.save()
    let saved = try #require(scene.people.first)
    #expect(scene.people.count == 1 && saved["name"] == "Ann B.")
    #expect(saved.value(forKey: "photo") as? Data == Data([1]))
    #expect(saved.title(of: "team") == "red")
    #expect(saved.titles(of: "tags") == ["old"])
  }
}

@Suite("claim 25: the policy calls super, and one conflict stops no other")
struct CoreDataSuperClaim {
  /// Two people in the store.
  ///
  /// Both contexts edit the first, `mine` inserts two objects under the key of
  /// the second, and two under a key that is not in the store.
  @Test func saveResolvesSeveralConflicts() throws {
    let scene = Scene(.mergeByPropertyObjectTrump)
    let ann = scene.insert(
      scene.person, in: scene.other, ["email": "a", "name": "Ann"])
    _ = scene.insert(
      scene.person, in: scene.other, ["email": "b", "name": "Bob"])
    try scene.other.save()
    scene.mine.object(with: ann.objectID).setValue("mine", forKey: "name")
    ann.setValue("theirs", forKey: "name")
    try scene.other.save()
    for (email, phone) in [("c", "1"), ("b", "2"), ("c", "3"), ("b", "4")] {
      _ = scene.insert(
        scene.person, in: scene.mine, ["email": email, "phone": phone])
    }
    try scene.mine.save()
    #expect(scene.people.map { $0["email"] } == ["a", "b", "c"])
    #expect(scene.people.map { $0["name"] } == ["mine", "Bob", ""])
    #expect(scene.people.map { $0["phone"] } == ["", "4", "3"])
  }

  @Test func refusedConflictDoesNotStopOthers() throws {
    let scene = Scene(.error)
    let policy = CoreDataMergePolicy(.mergeByPropertyObjectTrump)
    let people = ["a", "b"].map {
      scene.insert(scene.person, in: scene.other, ["email": $0])
    }
    try scene.other.save()
    for person in people {
      scene.mine.object(with: person.objectID).setValue("m", forKey: "name")
      person.setValue("t", forKey: "name")
    }
    try scene.other.save()
    let conflicts = scene.mine.conflictsWithTheStore
    #expect(conflicts.count == 2)
    try policy.resolve(optimisticLockingConflicts: [conflicts[0]])
    #expect(scene.mine.conflictsWithTheStore.count == 1, "by super")
    try policy.resolve(optimisticLockingConflicts: conflicts)
    #expect(
      scene.mine.conflictsWithTheStore.isEmpty,
      "super does not change resolved conflicts")
  }

  @Test func resolvedConflictIsNotResolvedAgain() throws {
    let scene = Scene(.mergeByPropertyObjectTrump)
    let first = scene.insert(
      scene.person, in: scene.mine, ["email": "a", "name": "first"])
    let second = scene.insert(
      scene.person, in: scene.mine, ["email": "a", "name": "second"])
    let conflicts = scene.mine.conflictsOfKeys
    let policy = CoreDataMergePolicy(.mergeByPropertyObjectTrump)
    try policy.resolve(constraintConflicts: conflicts)
    first.setValue("edited since", forKey: "name")
    try policy.resolve(constraintConflicts: conflicts)
    #expect(first["name"] == "edited since")
    #expect(second.managedObjectContext == nil)
  }
}
