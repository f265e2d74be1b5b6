// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// The changes that conflict with a deletion by either side.
@Suite struct DeletionConflictTests {
  /// Changes of the other device that no register shows.
  private static let moves: [(FieldKey, FieldEdit)] = [
    (Key.qty, .count(by: 1)), (Key.tags, .inserting("a")),
    (Key.log, .appending(1)), (Key.name, .write("base")),
  ]

  @Test(arguments: 0..<4)
  func changeSinceFetchConflictsWithDeletion(_ i: Int) throws {
    let (key, edit) = Self.moves[i]
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    try scene.otherEdits(key, edit)
    let error = #expect(throws: ContextSaveError.self) { try context.save() }
    guard case .conflict(let conflict)? = error else { return }
    let others = conflict.conflicts.first?.others ?? []
    #expect(others == (key == Key.name ? [] : [key]))
    // A second write of an equal value changes no shown value.
    let changed = key == Key.name ? "Item/1. " : "Item/1.\(key.name). "
    #expect(conflict.description.contains("fetched: \(changed)"))
    #expect(scene.mine.exists(Scene.item) && context.hasChanges)
  }

  @Test func ensureExistsConflictsWithDeletion() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    try scene.other.save { $0.ensureExists(Scene.item) }
    scene.receive()
    #expect(throws: ContextSaveError.self) { try context.save() }
  }

  @Test func counterReceivedBeforeMarkConflicts() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    try scene.other.save {
      $0.apply(.count(by: 1), to: Key.qty, of: Scene.item)
    }
    let delta = try #require(scene.other.delta(since: scene.mine.version))
    let mark = scene.mine.recordForEditing(Scene.item)[.existence]
    let fields = delta.changes[0].fields.filter { $0.key == Key.qty }
    scene.mine.apply(Delta([RecordChange(id: Scene.item, fields: fields)]))
    #expect(scene.mine.recordForEditing(Scene.item)[.existence] == mark)
    #expect(throws: ContextSaveError.self) { try context.save() }
  }

  @Test func deletionByBothConflicts() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .merge)
    context.delete(Scene.item)
    try scene.mine.save { $0.delete(Scene.item) }
    #expect(try context.save().conflicts.count == 1)
  }

  @Test func foldingLedgerDoesNotConflict() throws {
    let scene = Scene()
    try scene.mine.save {
      $0.apply(.appending(5), to: Key.log, of: Scene.item)
    }
    let context = EditingContext(scene.mine)
    context.delete(Scene.item)
    #expect(scene.mine.foldLedgers() > 0)
    #expect(try context.save().conflicts.isEmpty)
    #expect(!scene.mine.exists(Scene.item))
  }

  @Test func refreshDoesNotMovePendingDeletion() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.automaticallyMergesChangesFromParent = true
    context.delete(Scene.item)
    try scene.otherEdits(Key.qty, .count(by: 1))
    try scene.otherEdits(Key.note, .write("theirs"))
    context.refresh()
    #expect(context.value(of: Key.note, in: Scene.item) == nil)
    let error = #expect(throws: ContextSaveError.self) { try context.save() }
    guard case .conflict(let conflict)? = error else { return }
    let note = conflict.conflicts.first?.contested.first
    #expect(note?.base == "n" && note?.mine == nil && note?.store == "theirs")
    #expect(conflict.conflicts.first?.others == [Key.qty])
  }

  @Test func deletionAfterRefreshDoesNotConflict() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.fetch(Scene.item)
    try scene.otherEdits(Key.qty, .count(by: 1))
    context.refresh()
    context.delete(Scene.item)
    #expect(try context.save().conflicts.isEmpty)
    #expect(!scene.mine.exists(Scene.item))
  }

  private static let edits: [(FieldKey, FieldEdit)] = [
    (Key.qty, .count(by: 1)), (Key.tags, .inserting("z")),
    (Key.log, .appending(1)), (Key.name, .write("mine")),
  ]

  @Test(arguments: 0..<4)
  func editOfDeletedRecordConflicts(_ i: Int) throws {
    let (key, edit) = Self.edits[i]
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    context.apply(edit, to: key, in: Scene.item)
    try scene.otherDeletes()
    let error = #expect(throws: ContextSaveError.self) { try context.save() }
    guard case .conflict(let conflict)? = error else { return }
    #expect(
      conflict.conflicts.first?.contestedNames == [SchemaName(key.name)])
    #expect(!scene.mine.exists(Scene.item))
  }

  @Test func ensureExistsOfDeletedRecordIsReported() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .serverWins)
    context.ensureExists(Scene.item)
    try scene.otherDeletes()
    let report = try context.save()
    #expect(report.dropped.map(\.content) == [.creation])
    #expect(!scene.mine.exists(Scene.item))
  }

  @Test(arguments: [MergePolicy.rollback, .serverWins])
  func incrementOfDeletedRecordIsReported(
    _ policy: MergePolicy
  ) throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: policy)
    context.apply(.count(by: 5), to: Key.qty, in: Scene.item)
    try scene.otherDeletes()
    let report = try context.save()
    #expect(report.dropped.map(\.content) == [.edit(.count(by: 5))])
    #expect(!scene.mine.exists(Scene.item))
  }

  /// A write restores the record with its fields.
  ///
  /// Under `overwrite`, they equal those of the context, including cleared
  /// fields.
  @Test func overwriteOfDeletedRecordEqualsContext() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: .overwrite)
    let editor = context.fetch(Item.self, key: "1")
    editor.name = "mine"
    editor.note = nil
    editor.theme = nil
    editor.qty.increment(by: -10)
    editor.tags.remove("a")
    try scene.other.save { transaction in
      let item = transaction[Item.self, "1"]
      item.note = "theirs"
      item.tags.insert("c")
      item.qty.increment(by: 5)
    }
    try scene.otherDeletes()
    #expect(scene.item == nil)
    let report = try context.save()
    let item = try #require(scene.item)
    #expect(item.name == "mine" && item.note == nil && item.theme == nil)
    #expect(item.tags == ["b"] && item.qty == 0)
    #expect(report.names == ["name", "note", "theme"])
    #expect(
      report.dropped.contains {
        $0.field == Key.note
          && {
            if case .value(let lost, _) = $0.content {
              lost.value == "theirs"
            } else {
              false
            }
          }($0)
      })
  }
}
