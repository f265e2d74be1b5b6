// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@Suite struct DroppedChangeTests {
  private func drop(
    _ policy: MergePolicy, _ scene: Scene
  ) throws -> (dropped: DroppedChange.Side, kept: DroppedChange.Side)? {
    let context = scene.context(policy)
    try scene.otherEdits { $0.name = "theirs" }
    let report = try context.save()
    #expect(report.dropped.count == 1)
    let change = try #require(report.dropped.first)
    #expect(change.record == Scene.item)
    #expect(change.field == Item().name.key)
    #expect(change.rule == policy.name)
    guard case .value(let dropped, let kept) = change.content else {
      return nil
    }
    return (dropped, kept)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyStoreTrump, .rollback, .serverWins,
    .custom { _ in .keepStore },
  ])
  func mineIsReported(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 7000)
    let (dropped, kept) = try #require(try drop(policy, scene))
    #expect(dropped.value == "mine")
    #expect(dropped.device == DeviceID(1))
    #expect(dropped.time == nil, "it was never saved")
    #expect(kept.value == "theirs")
    #expect(kept.device == DeviceID(2))
    #expect(kept.time?.milliseconds == 7000)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .overwrite,
    .custom { .write($0.mine) },
  ])
  func theStoresIsReported(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem(otherClock: 7000)
    let (dropped, kept) = try #require(try drop(policy, scene))
    #expect(dropped.value == "theirs")
    #expect(dropped.device == DeviceID(2))
    #expect(dropped.time?.milliseconds == 7000)
    #expect(kept.value == "mine")
    #expect(kept.device == DeviceID(1))
  }

  @Test func overwriteReportsFieldsThatIDidNotEdit() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.overwrite)
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(report.names == ["name", "note"])
    #expect(report.dropped.map { $0.field?.name } == ["note"])
  }

  @Test func equalValuesAreNotDropped() throws {
    for policy in MergePolicy.named where policy.name != "error" {
      let scene = try Scene.withItem()
      let context = scene.context(policy)
      try scene.otherEdits { $0.name = "mine" }
      #expect(try context.save().dropped.isEmpty, "\(policy.name)")
      #expect(scene.item?.name == "mine")
    }
  }

  @Test func rollbackDropsDisjointEditsToo() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.rollback)
    context.fetch(Item.self, key: "1").theme = "dark"
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(report.dropped.map { $0.field?.name } == ["name", "theme"])
  }

  @Test func whatADeletedRecordHidesIsNotCalledKept() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.serverWins)
    try scene.mine.save { $0[Item.self, "1"].delete() }
    let report = try context.save()
    guard case .value(let dropped, let kept)? = report.dropped.first?.content
    else {
      Issue.record("mine was dropped")
      return
    }
    #expect(dropped.value == "mine")
    #expect(kept.value == nil)
  }

  @Test func conflictNamesOnlyWhatAnyoneChanged() throws {
    let scene = try Scene.withItem()
    let context = scene.context(.mergeByPropertyStoreTrump)
    try scene.otherEdits { $0.note = "theirs" }
    let report = try context.save()
    #expect(report.conflicts.first?.fields.map(\.field) == ["name", "note"])
    #expect(report.conflicts.first?.contested.isEmpty == true)
  }
}
