// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct EditingContextTests {
  @Test func editsAreNotWrittenBeforeSave() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    #expect(context.hasChanges)
    #expect(context.fetch(Item.self, key: "1").name == "mine")
    #expect(scene.item?.name == "base")
  }

  @Test func rollbackDiscardsEdits() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(context.fetch(Item.self, key: "1").name == "base")
    #expect(try context.save().dot == nil)
  }

  @Test func revertedEditTakesNoDot() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "1").name = "base"
    try scene.otherEdits { $0.name = "theirs" }
    #expect(!context.hasChanges)
    let report = try context.save()
    #expect(report.dot == nil && report.conflicts.isEmpty)
  }

  @Test func fetchKeepsPendingEdits() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    context.fetch(Scene.item)
    #expect(context.fetch(Item.self, key: "1").name == "mine")
  }

  @Test func editOfMissingRecordInsertsIt() throws {
    let scene = Scene()
    let context = scene.context(.error)
    context.fetch(Item.self, key: "1").theme = "dark"
    let report = try context.save()
    #expect(report.names == ["name", "theme"])
    #expect(scene.item?.name == "mine")
    #expect(scene.item?.theme == "dark")
  }

  @Test func nilUnsetsField() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error, name: nil)
    context.fetch(Item.self, key: "1").theme = nil
    #expect(try context.save().names == ["name", "theme"])
    #expect(scene.item != nil)
    #expect(scene.item?.name == nil)
    #expect(scene.item?.theme == nil)
  }

  @Test func secondSaveSupersedesFirst() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.error)
    try context.save()
    context.fetch(Item.self, key: "1").name = "again"
    #expect(try context.save().conflicts.isEmpty)
    #expect(scene.item?.name == "again")
    #expect(scene.nameConflicts == [])
  }

  @Test func registersCanBeEditedAsFieldEdits() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.apply(.write("mine"), to: Item().name.key, in: Scene.item)
    #expect(context.value(of: Item().name.key, in: Scene.item) == "mine")
    #expect(try context.save().names == ["name"])
  }

  /// The fields have both orders.
  @Test(arguments: ["note", "later"], [Key.note, Key.name])
  func writeDoesNotChangeFieldWithVariant(
    _ variant: String, _ key: FieldKey
  ) throws {
    let newer = FieldKey(key.name, .register, variant: variant)
    let scene = try Scene.withItem()
    try scene.otherEdits(newer, .write("of a newer version"))
    let context = EditingContext(scene.mine, mergePolicy: .overwrite)
    context.set("mine", for: key, in: Scene.item)
    try scene.otherEdits(Key.qty, .count(by: 1))
    let other = scene.stored(newer)
    try context.save()
    #expect(scene.stored(key).value == "mine")
    #expect(scene.stored(newer) == other)
  }
}
