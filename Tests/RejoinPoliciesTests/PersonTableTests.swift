// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// A row of the worked example: the record under a policy after the save.
struct PersonRow: Sendable, CustomTestStringConvertible {
  let policy: MergePolicy
  let name: String
  let address: String
  let phone: String
  let written: [String]
  /// The siblings of the shown phone number.
  var beside: [String] = []

  var testDescription: String { policy.name }

  static let swift = "Taylor Swift"
  static let jones = "Taylor Jones"
  static let main = "123 Main St"
  static let sesame = "123 Sesame St"
  static let fetched = "(212) 555-1212"
  static let mine = "1-800-275-2273"
  static let store = "(650) 253-0000"

  /// The rows of all policies that do not throw.
  static let all = [
    PersonRow(
      policy: .mergeByPropertyStoreTrump, name: jones, address: sesame,
      phone: store, written: ["name"]),
    PersonRow(
      policy: .mergeByPropertyObjectTrump, name: jones, address: sesame,
      phone: mine, written: ["name", "phone"]),
    PersonRow(
      policy: .overwrite, name: jones, address: main, phone: mine,
      written: ["address", "name", "phone"]),
    PersonRow(
      policy: .rollback, name: swift, address: sesame, phone: store,
      written: []),
    PersonRow(
      policy: .mergeNonNil, name: jones, address: sesame, phone: mine,
      written: ["name", "phone"], beside: [store]),
    PersonRow(
      policy: .serverWins, name: swift, address: sesame, phone: store,
      written: []),
    PersonRow(
      policy: .merge, name: jones, address: sesame, phone: mine,
      written: ["name", "phone"], beside: [store]),
    PersonRow(
      policy: .lastWriteWins, name: jones, address: sesame, phone: mine,
      written: ["name", "phone"]),
    PersonRow(
      policy: .manual, name: jones, address: sesame, phone: store,
      written: ["name"]),
    PersonRow(
      policy: .custom { $0.isChangedInContext ? .write($0.mine) : .keepStore },
      name: jones, address: sesame, phone: mine, written: ["name", "phone"]),
  ]
}

@Suite struct PersonTableTests {
  private func scene() throws -> Scene {
    let scene = Scene()
    try scene.mine.save { transaction in
      let taylor = transaction[Person.self, "taylor"]
      taylor.name = PersonRow.swift
      taylor.address = PersonRow.main
      taylor.phone = PersonRow.fetched
      taylor.birthday = "Electronica"
    }
    scene.send()
    return scene
  }

  private func editedContext(
    on scene: Scene, _ policy: MergePolicy
  ) throws -> EditingContext {
    let context = EditingContext(scene.mine, mergePolicy: policy)
    let taylor = context.fetch(Person.self, key: "taylor")
    taylor.name = PersonRow.jones
    taylor.phone = PersonRow.mine
    try scene.other.save { transaction in
      transaction[Person.self, "taylor"].address = PersonRow.sesame
      transaction[Person.self, "taylor"].phone = PersonRow.store
    }
    scene.receive()
    return context
  }

  @Test(arguments: PersonRow.all)
  func recordFollowsPolicy(_ row: PersonRow) throws {
    let scene = try scene()
    let context = try editedContext(on: scene, row.policy)
    let before = scene.mine.version[DeviceID(1)].sequence
    let report = try context.save()
    let taylor = try #require(scene.mine[Person.self, "taylor"])
    #expect(taylor.name == row.name)
    #expect(taylor.address == row.address)
    #expect(taylor.phone == row.phone)
    #expect(taylor.birthday == "Electronica")
    #expect(taylor.conflictingValues(of: \.phone) == row.beside)
    #expect(report.names == row.written)
    #expect(report.conflicts.map { $0.contested.map(\.field) } == [["phone"]])
    let dots: UInt64 = row.written.isEmpty ? 0 : 1
    #expect(scene.mine.version[DeviceID(1)].sequence == before + dots)
    #expect((report.dot == nil) == row.written.isEmpty)
  }

  @Test(arguments: PersonRow.all)
  func contextShowsStoreAfterSave(_ row: PersonRow) throws {
    let scene = try scene()
    let context = try editedContext(on: scene, row.policy)
    try context.save()
    let taylor = context.fetch(Person.self, key: "taylor")
    #expect(taylor.name == row.name)
    #expect(taylor.address == row.address)
    #expect(taylor.phone == row.phone)
    #expect(!context.hasChanges)
    #expect(try context.save().dot == nil)
  }

  @Test func errorNamesPhoneAndKeepsEdits() throws {
    let scene = try scene()
    let context = try editedContext(on: scene, .error)
    let clock = scene.mine.version
    let error = #expect(throws: ContextSaveError.self) { try context.save() }
    guard case .conflict(let conflict)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let phone = try #require(conflict.conflicts.first?.contested.first)
    #expect(conflict.conflicts.first?.contested.count == 1)
    #expect(phone.field == "phone")
    #expect(phone.base == .string(PersonRow.fetched))
    #expect(phone.mine == .string(PersonRow.mine))
    #expect(phone.store == .string(PersonRow.store))
    #expect(conflict.description.contains("Person/taylor.phone"))
    #expect(scene.mine.version == clock)
    #expect(context.hasChanges)
    #expect(context.fetch(Person.self, key: "taylor").name == PersonRow.jones)
    #expect(context.fetch(Person.self, key: "taylor").phone == PersonRow.mine)
  }

  @Test func laterPolicySavesRefusedEdits() throws {
    let scene = try scene()
    let context = try editedContext(on: scene, .error)
    #expect(throws: ContextSaveError.self) { try context.save() }
    context.mergePolicy = .mergeByPropertyObjectTrump
    #expect(try context.save().names == ["name", "phone"])
    #expect(scene.mine[Person.self, "taylor"]?.phone == PersonRow.mine)
  }

  @Test func defaultPolicyIsError() throws {
    let context = EditingContext(Scene().mine)
    #expect(context.mergePolicy.name == "error")
  }

  @Test(arguments: MergePolicy.named)
  func saveWithoutConflictWritesDirtyFields(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    context.fetch(Item.self, key: "1").qty.increment(by: 1)
    try scene.otherEdits { $0.qty.increment(by: 100) }
    let report = try context.save()
    #expect(report.names == ["name"])
    #expect(report.dropped.isEmpty && report.conflicts.isEmpty)
    #expect(scene.item?.name == "mine")
    #expect(scene.item?.qty == 111)
  }
}
