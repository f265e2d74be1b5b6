// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// The result of edits of counters, sets and ledgers in a conflict under a
/// policy.
struct EditsRow: Sendable, CustomTestStringConvertible {
  let policy: MergePolicy
  let qty: Int64
  let tags: [String]
  let log: Int64

  var testDescription: String { policy.name }

  private static func applied(_ policy: MergePolicy) -> EditsRow {
    EditsRow(policy: policy, qty: 111, tags: ["c", "z"], log: 82)
  }

  private static func dropped(_ policy: MergePolicy) -> EditsRow {
    EditsRow(policy: policy, qty: 110, tags: ["a", "z"], log: 75)
  }

  static let all = [
    applied(.mergeByPropertyStoreTrump), applied(.mergeByPropertyObjectTrump),
    applied(.mergeNonNil), applied(.merge), applied(.manual),
    applied(.custom { _ in .keepStore }), dropped(.rollback),
    dropped(.serverWins),
    EditsRow(policy: .overwrite, qty: 11, tags: ["b", "c"], log: 82),
  ]
}

@Suite struct EditsUnderPolicyTests {
  private func editedContext(
    _ scene: Scene, _ policy: MergePolicy
  ) -> EditingContext {
    let context = scene.context(policy)
    let item = context.fetch(Item.self, key: "1")
    item.qty.increment()
    item.tags.insert("c")
    item.tags.remove("a")
    item.log.append(7)
    return context
  }

  private func otherEdits(_ scene: Scene) throws {
    try scene.otherEdits { item in
      item.name = "theirs"
      item.qty.increment(by: 100)
      item.tags.insert("z")
      item.tags.remove("b")
      item.log.append(70)
    }
  }

  @Test(arguments: EditsRow.all)
  func editsInConflictFollowPolicy(_ row: EditsRow) throws {
    let scene = try Scene.withItem()
    let context = editedContext(scene, row.policy)
    try otherEdits(scene)
    let report = try context.save()
    #expect(report.conflicts.count == 1)
    #expect(scene.item?.qty == row.qty)
    #expect(scene.item?.tags == row.tags)
    #expect(scene.item?.log == row.log)
  }

  @Test(arguments: [MergePolicy.rollback, .serverWins])
  func droppedEditsAreReported(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = editedContext(scene, policy)
    try otherEdits(scene)
    let report = try context.save()
    let edits = report.dropped.filter {
      if case .edit = $0.content { true } else { false }
    }
    #expect(edits.map { $0.field?.name } == ["log", "qty", "tags"])
    #expect(edits.allSatisfy { $0.rule == policy.name })
    #expect(
      edits.contains { $0.content == .edit(.count(CounterEdit(by: 1))) })
    #expect(report.dot == nil)
  }

  @Test func errorKeepsEdits() throws {
    let scene = try Scene.withItem()
    let context = editedContext(scene, .error)
    try otherEdits(scene)
    #expect(throws: ContextSaveError.self) { try context.save() }
    #expect(scene.item?.qty == 110)
    #expect(context.fetch(Item.self, key: "1").qty.value == 11)
    context.mergePolicy = .merge
    try context.save()
    #expect(scene.item?.qty == 111)
    #expect(scene.item?.log == 82)
  }

  @Test(arguments: MergePolicy.named)
  func editsAloneDoNotConflict(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine, mergePolicy: policy)
    let item = context.fetch(Item.self, key: "1")
    item.qty.increment()
    item.tags.insert("c")
    item.log.append(7)
    try otherEdits(scene)
    let report = try context.save()
    #expect(report.conflicts.isEmpty && report.dropped.isEmpty)
    #expect(report.names.isEmpty && report.dot != nil)
    #expect(scene.item?.qty == 111)
    #expect(scene.item?.tags == ["a", "c", "z"])
    #expect(scene.item?.log == 82)
    #expect(scene.item?.name == "theirs")
  }

  @Test(arguments: [MergePolicy.merge, .mergeByPropertyObjectTrump])
  func removalsAndResetsAffectOnlySeenChanges(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    context.apply(
      .count(CounterEdit(by: 1, isReset: true)), to: Item().qty.key,
      in: Scene.item)
    context.apply(.append(.cancelling), to: Item().log.key, in: Scene.item)
    context.fetch(Item.self, key: "1").tags.remove("a")
    try scene.otherEdits { item in
      item.name = "theirs"
      item.qty.increment(by: 100)
      item.tags.insert("a")
      item.log.append(70)
    }
    try context.save()
    #expect(scene.item?.qty == 101)
    #expect(scene.item?.tags == ["a", "b"])
    #expect(scene.item?.log == 70)
  }

  @Test func overwriteRestoresUneditedCountersAndSets() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try otherEdits(scene)
    try context.save()
    #expect(scene.item?.qty == 10)
    #expect(scene.item?.tags == ["a", "b"])
    #expect(scene.item?.log == 75)
  }

  @Test func overwriteSkipsEqualCountersAndSets() throws {
    let scene = try Scene.withItem()
    let third = Scene.replica(3)
    scene.mine.delta().map { _ = third.apply($0) }
    let context = scene.context(.overwrite)
    try scene.otherEdits { $0.name = "theirs" }
    try third.save { $0[Item.self, "1"].qty.increment(by: 5) }
    try third.save { $0[Item.self, "1"].tags.remove("b") }
    try context.save()
    scene.mine.merge(third)
    #expect(scene.item?.qty == 15)
    #expect(scene.item?.tags == ["a"])
    let tags = scene.mine.recordForEditing(Scene.item)[Item().tags.key]
    #expect(!tags.clock.contains(Dot(DeviceID(1), 2)))
    let qty = scene.mine.recordForEditing(Scene.item)[Item().qty.key]
    #expect(!qty.clock.contains(Dot(DeviceID(1), 2)))
  }

  @Test func contextShowsCountersWithEdits() throws {
    let scene = try Scene.withItem()
    let context = EditingContext(scene.mine)
    let item = context.fetch(Item.self, key: "1")
    item.qty.increment(by: 3)
    item.qty.increment(by: -1)
    #expect(item.qty.value == 12)
    #expect(context.fetch(Item.self, key: "new").qty.value == 0)
    try context.save()
    #expect(scene.item?.qty == 12)
  }

  @Test func overwriteDoesNotReinsertPresentElements() throws {
    let scene = try Scene.withItem()
    let third = Scene.replica(3)
    third.merge(scene.mine)
    let context = scene.context(.overwrite)
    try otherEdits(scene)
    try scene.otherEdits { $0.tags.insert("b") }
    try third.save { $0[Item.self, "1"].tags.remove("a") }
    try context.save()
    scene.mine.merge(third)
    #expect(scene.item?.tags == ["b"], "the removal of a was concurrent")
  }

  @Test func overwriteCancelsOnlySeenEntries() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    context.apply(.append(.cancelling), to: Item().log.key, in: Scene.item)
    try otherEdits(scene)
    try context.save()
    #expect(scene.item?.log == 70)
  }
}
