// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct CustomPolicyTests {
  private let policy = MergePolicy.custom { field in
    switch field.field {
    case "name": .reportConflict
    case "note": .write("both notes")
    default:
      field.isChangedInContext ? .writeConcurrently(field.mine) : .keepStore
    }
  }

  @Test func ruleQueuesOneFieldAndWritesAnother() throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    context.fetch(Item.self, key: "1").note = "my note"
    try scene.otherEdits { item in
      item.name = "theirs"
      item.note = "their note"
      item.theme = "their theme"
    }
    let report = try context.save()
    #expect(report.names == ["note"])
    #expect(scene.item?.note == "both notes")
    #expect(scene.item?.conflictingValues(of: \.note) == [])
    #expect(scene.item?.name == "theirs")
    #expect(scene.item?.theme == "their theme")
    #expect(context.pendingConflicts.count == 1)
    #expect(report.dropped.map { $0.field?.name } == ["note"])
    #expect(report.dropped.first?.rule == "custom")
    try context.resolve(Scene.item, [Item().name.key: "settled"])
    #expect(scene.item?.name == "settled")
    #expect(context.pendingConflicts.isEmpty)
  }

  @Test func ruleWritesFieldChangedOnlyInStore() throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try scene.otherEdits { $0.note = "their note" }
    #expect(try context.save().names == ["note"])
    #expect(scene.item?.note == "both notes")
  }

  @Test func ruleWritesConcurrently() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.custom { _ in .writeConcurrently("merged") })
    try scene.otherEdits { $0.name = "theirs" }
    #expect(try context.save().dropped.isEmpty)
    #expect(scene.item?.name == "merged")
    #expect(scene.nameConflicts == ["theirs"])
  }

  @Test func ruleIsNotCalledWithoutConflict() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.custom { _ in .write("asked") })
    try context.save()
    #expect(scene.item?.name == "mine")
  }

  @Test func ruleReceivesThreeValues() throws {
    let scene = try Scene.withItem()
    let context = scene.context(
      .custom { field in
        let values = [field.base, field.mine, field.store]
        return .write(.string(values.map { "\($0 ?? .null)" }.joined()))
      })
    try scene.otherEdits { $0.name = "theirs" }
    try context.save()
    for part in ["base", "mine", "theirs"] {
      #expect(scene.item?.name?.contains(part) == true)
    }
  }
}
