// SPDX-License-Identifier: Apache-2.0

import CoreData
import Foundation
import Rejoin
import RejoinPolicies
import Testing

/// The worked example, between a managed object context and its store.
@Suite struct UpdateConflictTests {
  private static let swift = "Taylor Swift"
  private static let jones = "Taylor Jones"
  private static let main = "123 Main St"
  private static let sesame = "123 Sesame St"
  private static let mine = "1-800-275-2273"
  private static let theirs = "(650) 253-0000"

  /// Returns a person of the store, fetched in `mine`.
  private func person(_ scene: Scene) throws -> NSManagedObject {
    let taylor = scene.insert(
      scene.person, in: scene.other,
      [
        "email": "t@s.com", "name": Self.swift, "address": Self.main,
        "phone": "(212) 555-1212", "birthday": "Electronica",
        "photo": Data([1]), "visits": Int64(7), "born": Date(),
        "height": 1.78, "isMember": true,
        "homepage": URL(filePath: "/taylor"),
      ])
    taylor.setValue(
      scene.insert(scene.team, in: scene.other, ["title": "red"]),
      forKey: "team")
    taylor.setValue(
      scene.insert(scene.badge, in: scene.other, ["title": "gold"]),
      forKey: "badge")
    let tag = scene.insert(scene.tag, in: scene.other, ["title": "singer"])
    taylor.setValue(Set([tag]), forKey: "tags")
    try scene.other.save()
    return scene.mine.object(with: taylor.objectID)
  }

  private func theirs(
    _ object: NSManagedObject, _ scene: Scene
  ) -> NSManagedObject {
    scene.other.object(with: object.objectID)
  }

  private func edit(_ scene: Scene, _ taylor: NSManagedObject) throws {
    taylor.setValue(Self.jones, forKey: "name")
    taylor.setValue(Self.mine, forKey: "phone")
    let other = theirs(taylor, scene)
    other.setValue(Self.sesame, forKey: "address")
    other.setValue(Self.theirs, forKey: "phone")
    other.setValue(
      scene.insert(scene.team, in: scene.other, ["title": "blue"]),
      forKey: "team")
    try scene.other.save()
  }

  private func expected(_ policy: MergePolicy) -> [String] {
    switch policy {
    case .mergeByPropertyStoreTrump, .manual:
      [Self.jones, Self.sesame, Self.theirs, "blue"]
    case .rollback, .serverWins:
      [Self.swift, Self.sesame, Self.theirs, "blue"]
    case .overwrite: [Self.jones, Self.main, Self.mine, "red"]
    case .error: [Self.swift, Self.sesame, Self.theirs, "blue"]
    default: [Self.jones, Self.sesame, Self.mine, "blue"]
    }
  }

  /// Checks that the properties that no context set are unchanged.
  private func expectTheRest(_ person: NSManagedObject) {
    #expect(person["email"] == "t@s.com")
    #expect(person["birthday"] == "Electronica")
    #expect(person.value(forKey: "photo") as? Data == Data([1]))
    #expect(person.value(forKey: "visits") as? Int64 == 7)
    #expect(person.value(forKey: "height") as? Double == 1.78)
    #expect(person.value(forKey: "isMember") as? Bool == true)
    #expect(person.value(forKey: "born") is Date)
    #expect(
      person.value(forKey: "homepage") as? URL == URL(filePath: "/taylor"))
    #expect(person.title(of: "badge") == "gold")
    #expect(person.titles(of: "tags") == ["singer"])
  }

  @Test(arguments: MergePolicy.named, [false, true])
  func updatesFollowPolicy(_ policy: MergePolicy, _ isStale: Bool) throws {
    let scene = Scene(policy)
    scene.mine.hasStaleCache = isStale
    let taylor = try person(scene)
    try edit(scene, taylor)
    if case .error = policy {
      #expect(throws: NSError.self) { try scene.mine.save() }
      #expect(taylor["name"] == Self.jones, "the edits stay")
      #expect(taylor["phone"] == Self.mine)
    } else {
      try scene.mine.save()
    }
    let saved = try #require(scene.people.first)
    #expect(
      [saved["name"], saved["address"], saved["phone"]]
        + [saved.title(of: "team")] == expected(policy))
    expectTheRest(saved)
    #expect(
      scene.reported.map { $0.map(\.field) }
        == [["address", "name", "phone", "team"]])
    let phone = scene.reported.first?.first { $0.field == "phone" }
    #expect(phone?.mine == .string(Self.mine))
    #expect(phone?.store == .string(Self.theirs))
  }

  @Test(arguments: MergePolicy.named)
  func toOneRelationshipsAreContested(_ policy: MergePolicy) throws {
    let scene = Scene(policy)
    let taylor = try person(scene)
    let green = scene.insert(scene.team, in: scene.mine, ["title": "green"])
    taylor.setValue(green, forKey: "team")
    theirs(taylor, scene).setValue(
      scene.insert(scene.team, in: scene.other, ["title": "blue"]),
      forKey: "team")
    try scene.other.save()
    try? scene.mine.save()
    let saved = try #require(scene.people.first)
    let expected =
      switch policy {
      case .error, .mergeByPropertyStoreTrump, .rollback, .serverWins, .manual:
        "blue"
      default: "green"
      }
    #expect(saved.title(of: "team") == expected)
    expectTheRest(saved)
  }

  @Test(arguments: MergePolicy.named)
  func assignedNilFollowsPolicy(_ policy: MergePolicy) throws {
    let scene = Scene(policy)
    let taylor = try person(scene)
    taylor.setValue(nil, forKey: "birthday")
    theirs(taylor, scene).setValue(nil, forKey: "address")
    try scene.other.save()
    try? scene.mine.save()
    let saved = try #require(scene.people.first)
    switch policy {
    case .error, .rollback, .serverWins:
      #expect(saved["birthday"] == "Electronica" && saved["address"] == "")
    case .overwrite:
      #expect(saved["birthday"] == "" && saved["address"] == Self.main)
    default: #expect(saved["birthday"] == "" && saved["address"] == "")
    }
  }

  @Test func overwriteDoesNotWriteUnassignedNil() throws {
    let scene = Scene(.overwrite)
    let ann = scene.insert(scene.person, in: scene.other, ["email": "a"])
    try scene.other.save()
    let mine = scene.mine.object(with: ann.objectID)
    mine.setValue("Ann", forKey: "name")
    ann.setValue(Data([9]), forKey: "photo")
    try scene.other.save()
    try scene.mine.save()
    let saved = try #require(scene.people.first)
    #expect(saved["name"] == "Ann")
    #expect(saved.value(forKey: "photo") as? Data == Data([9]))
  }

  @Test(arguments: MergePolicy.named, [false, true])
  func deletedRowFollowsPolicy(_ policy: MergePolicy, _ isStale: Bool) throws {
    let scene = Scene(policy)
    scene.mine.hasStaleCache = isStale
    let taylor = try person(scene)
    taylor.setValue(Self.jones, forKey: "name")
    scene.other.delete(theirs(taylor, scene))
    try scene.other.save()
    switch policy {
    case .error:
      #expect(throws: NSError.self) { try scene.mine.save() }
      #expect(scene.people.isEmpty && taylor["name"] == Self.jones)
      #expect(taylor["email"] == "t@s.com")
    case .mergeByPropertyStoreTrump, .rollback, .serverWins, .manual:
      try scene.mine.save()
      #expect(scene.people.isEmpty)
    default:
      try scene.mine.save()
      let saved = try #require(scene.people.first)
      #expect(saved["name"] == Self.jones && saved["address"] == Self.main)
      #expect(saved["email"] == "t@s.com")
      #expect(saved["birthday"] == "Electronica")
      #expect(saved.value(forKey: "visits") as? Int64 == 7)
      #expect(saved.title(of: "team") == "red")
    }
    #expect(scene.reported.count == 1)
  }

  @Test(arguments: MergePolicy.named)
  func updatedRowFollowsPolicy(_ policy: MergePolicy) throws {
    let scene = Scene(policy)
    let taylor = try person(scene)
    scene.mine.delete(taylor)
    theirs(taylor, scene).setValue(Self.theirs, forKey: "phone")
    try scene.other.save()
    switch policy {
    case .error: #expect(throws: NSError.self) { try scene.mine.save() }
    default: try scene.mine.save()
    }
    switch policy {
    case .error, .mergeByPropertyStoreTrump, .rollback, .serverWins, .manual:
      let saved = try #require(scene.people.first)
      #expect(saved["phone"] == Self.theirs && saved["name"] == Self.swift)
      #expect(saved.title(of: "team") == "red")
    default: #expect(scene.people.isEmpty)
    }
  }

  @Test func customRuleCreatesValue() throws {
    let scene = Scene(
      .custom { field in
        switch field.field {
        case "phone": .write(.string("both"))
        case "address": .write(field.base)
        default: .writeConcurrently(field.mine)
        }
      })
    let taylor = try person(scene)
    try edit(scene, taylor)
    try scene.mine.save()
    let saved = try #require(scene.people.first)
    #expect(saved["phone"] == "both" && saved["address"] == Self.main)
    #expect(saved["name"] == Self.jones)
    expectTheRest(saved)
  }

  @Test func customRuleKeepsFetchedValuesOfDeletedRow() throws {
    let scene = Scene(
      .custom { $0.field == "name" ? .write($0.mine) : .keepStore })
    let taylor = try person(scene)
    taylor.setValue(Self.jones, forKey: "name")
    taylor.setValue(Self.mine, forKey: "phone")
    scene.other.delete(theirs(taylor, scene))
    try scene.other.save()
    try scene.mine.save()
    let saved = try #require(scene.people.first)
    #expect(saved["name"] == Self.jones)
    #expect(saved["phone"] == "(212) 555-1212")
    #expect(saved["email"] == "t@s.com")
  }

  @Test func valuesOfUnsupportedTypeAreCompared() throws {
    let scene = Scene(.mergeByPropertyStoreTrump)
    let taylor = try person(scene)
    taylor.setValue(URL(filePath: "/mine"), forKey: "homepage")
    theirs(taylor, scene).setValue(URL(filePath: "/theirs"), forKey: "homepage")
    try scene.other.save()
    try scene.mine.save()
    #expect(
      scene.people.first?.value(forKey: "homepage") as? URL
        == URL(filePath: "/theirs"))
  }
}
