// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

/// Receiving a delta joins it without a policy.
@Suite struct LayerOneTests {
  @Test(arguments: MergePolicy.named)
  func receivingConsultsNoPolicy(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let contexts = [scene.mine, scene.other].map {
      EditingContext($0, mergePolicy: policy)
    }
    for (i, context) in contexts.enumerated() {
      context.fetch(Item.self, key: "1").name = "of context \(i)"
    }
    try scene.mine.save { $0[Item.self, "1"].name = "a" }
    try scene.other.save { $0[Item.self, "1"].name = "b" }
    scene.send()
    scene.receive()
    for replica in [scene.mine, scene.other] {
      #expect(replica[Item.self, "1"]?.name == "b")
      #expect(replica[Item.self, "1"]?.conflictingValues(of: \.name) == ["a"])
      #expect(replica.delta(since: scene.mine.version) == nil)
    }
    #expect(
      contexts.map { $0.fetch(Item.self, key: "1").name }
        == ["of context 0", "of context 1"])
  }

  @Test func customRuleIsNotCalledOnReceive() throws {
    let scene = try Scene.withItem()
    let context = scene.context(
      .custom { _ in
        Issue.record("called without a save")
        return .keepStore
      })
    try scene.otherEdits { $0.name = "theirs" }
    scene.mine.merge(scene.other)
    context.refresh()
    #expect(scene.item?.name == "theirs")
  }

  @Test(arguments: MergePolicy.named)
  func devicesAgreeAfterSavingUnderAnyPolicy(_ policy: MergePolicy) throws {
    let scene = try Scene.withItem()
    let context = scene.context(policy)
    try scene.otherEdits { $0.name = "theirs" }
    _ = try? context.save()
    scene.send()
    let item = scene.other[Item.self, "1"]
    #expect(item?.name == scene.item?.name)
    #expect(item?.conflictingValues(of: \.name) == scene.nameConflicts)
    #expect(scene.mine.version == scene.other.version)
  }
}
