// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import Testing

@testable import RejoinComparison

@Suite struct ContenderTests {
  @Test func causallyLaterWriteWinsAtEqualTimes() {
    var episode = Episode(
      [:], ("b", { $0.set = ["x": "B1", "y": "B1"] }),
      ("b", { $0.set["x"] = "B2" }),
      ("a", { $0.set = ["x": "A", "y": "A"] }))
    for place in episode.edits.indices { episode.edits[place].at = 10 }
    episode.edits[2].at = 11
    var outcome = TimestampThenVectorClock().outcome(of: episode)
    #expect(outcome.states == [["x": .text("A"), "y": .text("A")]])
    episode.edits[2].at = 10
    outcome = TimestampThenVectorClock().outcome(of: episode)
    #expect(outcome.states == [["x": .text("B2"), "y": .text("B1")]])
  }

  /// The shipped version of the rule ends with different records.
  @Test func equalTimesDivideDevices() {
    var episode = Episode(
      [:], ("a", { $0.set = ["x": "A", "y": "A"] }),
      ("b", { $0.set = ["x": "B"] }))
    for place in episode.edits.indices { episode.edits[place].at = 10 }
    let a: PlainRecord = ["x": .text("A"), "y": .text("A")]
    let b: PlainRecord = ["x": .text("B"), "y": .text("A")]
    #expect(FieldByTime.documented.outcome(of: episode).states == [b])
    let shipped = FieldByTime.shipped.outcome(of: episode)
    #expect(shipped.states == [a, b] && !shipped.agrees)
    // The later time wins under both.
    episode.edits[0].at = 11
    #expect(FieldByTime.documented.outcome(of: episode).states == [a])
    #expect(FieldByTime.shipped.outcome(of: episode).states == [a, a])
  }

  /// Fields whose changes commute store deltas, whatever the times.
  @Test func timestampsDoNotDecideCountersAndSets() {
    var episode = Episode(
      ["n": .count(5), "s": .texts("x", "y")],
      kinds: ["n": .counter, "s": .set],
      (
        "a",
        {
          $0.increment["n"] = 2
          $0.insert["s"] = ["z"]
        }
      ),
      (
        "b",
        {
          $0.increment["n"] = -1
          $0.remove["s"] = ["x"]
        }
      ))
    for at in [0, 1000] as [Int64] {
      episode.edits[0].at = at
      #expect(
        TimestampThenVectorClock().outcome(of: episode).states
          == [["n": .count(6), "s": .texts("y", "z")]])
    }
  }

  /// Apple's sample keeps one whole record, deletes without a check, and can
  /// save a deleted record again.
  @Test func sampleKeepsLaterWholeRecord() {
    let sample = SyncEngineSample()
    var episode = Episode(
      ["x": .text("old"), "y": .text("old")],
      ("a", { $0.set["x"] = "A" }), ("b", { $0.set["y"] = "B" }))
    let (a, b): (PlainRecord, PlainRecord) = (
      ["x": .text("A"), "y": .text("old")],
      ["x": .text("old"), "y": .text("B")]
    )
    #expect(sample.outcome(of: episode).states == [b])
    episode.edits[0].at = 9
    episode.arrival = ["a", "b"]
    #expect(sample.outcome(of: episode).states == [a])
    // The refused client keeps its own copy at equal dates.
    episode.edits[1].at = 9
    #expect(sample.outcome(of: episode).states == [b])
    var deletion = Episode(
      a, ("a", { $0.isDeletion = true }), ("b", { $0.set["y"] = "B" }))
    deletion.edits[0].at = 9
    deletion.arrival = ["a", "b"]
    #expect(
      sample.outcome(of: deletion).states
        == [["x": .text("A"), "y": .text("B")]])
    deletion.arrival = ["b", "a"]
    #expect(sample.outcome(of: deletion).states == [nil])
  }

  /// A container may send whole records or only changed properties.
  ///
  /// The two results are the bounds of its losses.
  @Test func savedContainerIsByRecordOrByProperty() throws {
    let episode = Episode(
      ["x": .text("old"), "y": .text("old")],
      ("a", { $0.set["x"] = "A" }), ("b", { $0.set["y"] = "B" }))
    #expect(
      try SavedContainer.byRecord.outcome(of: episode).states
        == [["x": .text("old"), "y": .text("B")]])
    #expect(
      try SavedContainer.byProperty.outcome(of: episode).states
        == [["x": .text("A"), "y": .text("B")]])
  }

  /// A queued copy is listed as a whole, so it shows counters and sets.
  @Test func pendingCopyShowsEveryChange() {
    let episode = Episode(
      ["x": .text("old"), "n": .count(5), "s": .texts("y")],
      kinds: ["n": .counter, "s": .set], ("a", { $0.set["x"] = "A" }),
      (
        "b",
        {
          $0.set["x"] = "B"
          $0.increment["n"] = 2
          $0.insert["s"] = ["z"]
        }
      ))
    let outcome = PendingChanges().outcome(of: episode)
    #expect(
      outcome.states == [["x": .text("A"), "n": .count(5), "s": .texts("y")]])
    #expect(
      outcome.kept == [
        "x": [.text("B")], "n": [.count(7)], "s": [.texts("y", "z")],
      ])
    let losses = Oracle(episode).verdict(on: outcome).losses
    #expect(losses.isLossless && losses.kept == 3)
  }

  /// A clear stays, and the replaced value is listed.
  @Test func handlerTreatsClearAsWrite() {
    let base: PlainRecord = ["x": .text("old")]
    let clear: (inout Episode.Edit) -> Void = { $0.clear = ["x"] }
    let write: (inout Episode.Edit) -> Void = { $0.set["x"] = "B" }
    let cleared = ThreeWayHandler().outcome(
      of: Episode(base, ("a", write), ("b", clear)))
    #expect(cleared.states == [[:]] && cleared.kept == ["x": [.text("B")]])
    let written = ThreeWayHandler().outcome(
      of: Episode(base, ("a", clear), ("b", write)))
    #expect(written.states == [["x": .text("B")]])
    #expect(written.kept == ["x": [nil]])
    // A write of the fetched value counts as a write.
    let again = ThreeWayHandler().outcome(
      of: Episode(
        base, ("a", write), ("b", { $0.set["x"] = "C" }),
        ("b", { $0.set["x"] = "old" })))
    #expect(again.states == [base] && again.kept == ["x": [.text("B")]])
  }

  /// Every deletion is an operation: it counts, as in Automerge.
  @Test func deletedKeysCountAsOperations() {
    let episode = Episode(
      ["x": .text("old"), "s": .texts("p", "q")], kinds: ["s": .set],
      (
        "a",
        {
          $0.clear = ["s"]
          $0.set["x"] = "A"
        }
      ),
      ("b", { $0.set["x"] = "B" }))
    // The third operation of a wins over the first of b.
    #expect(AutomergeLike().outcome(of: episode).states == [["x": .text("A")]])
  }

  @Test func fastClockWinsByTimeAndNotByArrival() throws {
    var episode = Episode(
      [:], ("a", { $0.set["x"] = "ahead" }), ("b", { $0.set["x"] = "late" }))
    episode.edits[0].at = 1_000_000
    episode.arrival = ["a", "b"]
    #expect(
      RecordByDeviceTime().outcome(of: episode).states == [
        ["x": .text("ahead")]
      ])
    for server in [AllKeys(), RecordByServerTime()] as [any Contender] {
      #expect(
        try server.outcome(of: episode).states == [["x": .text("late")]])
    }
  }

  @Test func allKeysKeepsKeysOnlyOnServer() throws {
    let episode = Episode(
      [:], ("a", { $0.set["x"] = "A" }), ("b", { $0.set["y"] = "B" }))
    #expect(
      AllKeys().outcome(of: episode).states
        == [["x": .text("A"), "y": .text("B")]])
    for whole in [RecordByDeviceTime(), RecordByServerTime()] as [any Contender]
    {
      #expect(try whole.outcome(of: episode).states == [["y": .text("B")]])
    }
  }

  @Test func pendingEditsInContextMergeAsOneSave() {
    let episode = Episode(
      ["n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 10 }), ("b", { $0.increment["n"] = 1 }),
      ("b", { $0.increment["n"] = 1 }))
    #expect(
      Container(.mergeByPropertyObjectTrump).outcome(of: episode).states
        == [["n": .count(7)]])
    #expect(
      Container(.mergeByPropertyStoreTrump).outcome(of: episode).states
        == [["n": .count(15)]])
  }

  /// The server checks a tag, and the saves behind a refused one wait.
  @Test func refusedSaveBlocksLaterSaves() {
    let episode = Episode(
      ["x": .text("old"), "y": .text("old")], ("a", { $0.set["x"] = "A" }),
      ("b", { $0.set["y"] = "B" }), ("b", { $0.isDeletion = true }))
    let outcome = IfServerRecordUnchanged().outcome(of: episode)
    #expect(
      outcome.states == [["x": .text("A"), "y": .text("old")], nil])
    #expect(outcome.waiting == ["b"])
  }

  @Test func contextSaveFollowsItsPolicy() throws {
    let episode = Episode(
      ["x": .text("old"), "n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.set["x"] = "A" }), ("a", { $0.increment["n"] = 2 }),
      ("b", { $0.set["x"] = "B" }), ("b", { $0.increment["n"] = 1 }))
    func outcome(_ policy: MergePolicy) throws -> Outcome {
      try RejoinInContexts(policy).outcome(of: episode)
    }
    let (a, b): (PlainRecord, PlainRecord) = (
      ["x": .text("A"), "n": .count(8)], ["x": .text("B"), "n": .count(8)]
    )
    #expect(try outcome(.mergeByPropertyStoreTrump).states == [a, a])
    #expect(try outcome(.mergeByPropertyObjectTrump).states == [b, b])
    #expect(try outcome(.merge).states == [b, b])
    #expect(try outcome(.merge).kept["x"] == [.text("A"), .text("B")])
    #expect(try outcome(.manual).states == [a, a])
    #expect(try outcome(.manual).kept["x"]?.contains(.text("B")) == true)
    // In a conflict, these policies also drop the edits of counters.
    let server: PlainRecord = ["x": .text("A"), "n": .count(7)]
    #expect(try outcome(.rollback).states == [server, server])
    #expect(
      try outcome(.error).states
        == [server, ["x": .text("B"), "n": .count(6)]])
  }

  @Test func updateOfDeletedRecordSavesWholeCopy() {
    let base: PlainRecord = ["x": .text("old"), "y": .text("old")]
    let episode = Episode(
      base, ("a", { $0.isDeletion = true }), ("b", { $0.set["x"] = "B" }))
    let whole: PlainRecord = ["x": .text("B"), "y": .text("old")]
    #expect(ChangedKeys().outcome(of: episode).states == [whole])
    #expect(PendingChanges().outcome(of: episode).states == [whole])
    #expect(
      Container(.mergeByPropertyObjectTrump).outcome(of: episode).states
        == [whole])
    #expect(
      Container(.mergeByPropertyStoreTrump).outcome(of: episode).states
        == [nil])
    #expect(
      RecordPerAttribute().outcome(of: episode).states
        == [["x": .text("B")]])
  }

  /// No attribute of a mirrored store can be unique.
  @Test(arguments: Container.all)
  func insertionsIntoContainerAreSeparateObjects(container: Container) {
    let episode = Episode(
      nil, ("a", { $0.set = ["x": "A", "y": "A"] }),
      ("b", { $0.set["y"] = "B" }))
    let outcome = container.outcome(of: episode)
    #expect(outcome.agrees)
    #expect(Oracle(episode).verdict(on: outcome).losses.isLossless)
    #expect(outcome.states[0]?["x"] == .text("A"))
  }

  /// A save changes the tag, and a write changes the row's version.
  @Test func rewrittenValuesCountAsWrites() {
    let base: PlainRecord = ["x": .text("old"), "s": .texts("a")]
    let episode = Episode(
      base, kinds: ["s": .set],
      (
        "a",
        {
          $0.set["x"] = "old"
          $0.insert["s"] = ["a"]
        }
      ),
      (
        "b",
        {
          $0.set["x"] = "new"
          $0.remove["s"] = ["a"]
        }
      ))
    let new: PlainRecord = ["x": .text("new"), "s": .elements([])]
    #expect(IfServerRecordUnchanged().outcome(of: episode).waiting == ["b"])
    #expect(Container(.error).outcome(of: episode).waiting == ["b"])
    #expect(ColumnVersion().outcome(of: episode).states == [new])
    // Automerge writes neither edit of a, because the values are equal. The
    // removal of b saw the only element.
    let automerge = AutomergeLike().outcome(of: episode)
    #expect(automerge.states == [["x": .text("new")]])
    #expect(automerge.kept == ["x": [.text("new")]])
  }

  @Test func handlerMergesByKindAndListsReplacedValues() {
    let episode = Episode(
      ["x": .text("old"), "n": .count(5), "s": .texts("a", "b")],
      kinds: ["n": .counter, "s": .set],
      (
        "a",
        {
          $0.set["x"] = "A"
          $0.increment["n"] = 3
          $0.remove["s"] = ["a"]
        }
      ),
      ("b", { $0.set["x"] = "B" }), ("b", { $0.increment["n"] = -1 }),
      ("b", { $0.insert["s"] = ["c"] }))
    let outcome = ThreeWayHandler().outcome(of: episode)
    #expect(
      outcome.states
        == [["x": .text("B"), "n": .count(7), "s": .texts("b", "c")]])
    #expect(outcome.kept == ["x": [.text("A")]])
  }

  @Test func handlerDeletesOnlyUnchangedRecord() {
    let base: PlainRecord = ["x": .text("old"), "y": .text("old")]
    let (delete, write): ((inout Episode.Edit) -> Void, _) = (
      { $0.isDeletion = true },
      { (edit: inout Episode.Edit) in edit.set["x"] = "B" }
    )
    let handler = ThreeWayHandler()
    #expect(
      handler.outcome(of: Episode(base, ("a", write), ("b", delete))).states
        == [["x": .text("B"), "y": .text("old")]])
    #expect(
      handler.outcome(of: Episode(base, ("a", delete), ("b", write))).states
        == [["x": .text("B"), "y": .text("old")]])
    #expect(
      handler.outcome(of: Episode(base, ("a", delete))).states == [nil])
  }

  @Test func columnWithMoreWritesWins() {
    let episode = Episode(
      ["x": .text("old"), "y": .text("old")],
      ("a", { $0.set["x"] = "A1" }), ("a", { $0.set["x"] = "A2" }),
      ("b", { $0.set = ["x": "B", "y": "B"] }), ("c", { $0.set["y"] = "C" }))
    #expect(
      ColumnVersion().outcome(of: episode).states
        == [["x": .text("A2"), "y": .text("C")]])
  }

  @Test func reinsertedRowWins() {
    let base: PlainRecord = ["x": .text("old"), "y": .text("old")]
    let again = Episode(
      base, ("a", { $0.isDeletion = true }), ("a", { $0.set["x"] = "A" }),
      ("b", { $0.set["y"] = "B" }), ("c", { $0.isDeletion = true }))
    #expect(
      ColumnVersion().outcome(of: again).states == [["x": .text("A")]])
    let twice = Episode(
      nil, ("a", { $0.set["x"] = "A" }), ("b", { $0.set["y"] = "B" }))
    #expect(
      ColumnVersion().outcome(of: twice).states
        == [["x": .text("A"), "y": .text("B")]])
  }

  @Test func replacedCounterLosesConcurrentIncrement() {
    let episode = Episode(
      ["n": .count(5), "x": .text("old")], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 1 }), ("b", { $0.set["n"] = 10 }),
      ("b", { $0.increment["n"] = 2 }), ("c", { $0.set["x"] = "C" }),
      ("d", { $0.clear = ["x"] }))
    let outcome = AutomergeLike().outcome(of: episode)
    #expect(outcome.states == [["n": .count(12), "x": .text("C")]])
    #expect(outcome.kept == ["x": [.text("C")]])
  }

  @Test func replacedObjectLosesNestedChanges() {
    let base: PlainRecord = ["x": .text("old"), "s": .texts("a")]
    let episode = Episode(
      base, kinds: ["s": .set], ("a", { $0.isDeletion = true }),
      ("a", { $0.set["x"] = "A" }), ("b", { $0.insert["s"] = ["b"] }))
    #expect(
      AutomergeLike().outcome(of: episode).states == [["x": .text("A")]])
    let twice = Episode(
      nil, ("a", { $0.set["x"] = "A" }), ("b", { $0.set["y"] = "B" }))
    let outcome = AutomergeLike().outcome(of: twice)
    #expect(outcome.states == [["y": .text("B")]])
    #expect(outcome.kept == ["x": [.text("A")], "y": [.text("B")]])
  }

  @Test func historyOfEntriesStartsWithBase() {
    let episode = Episode(
      ["x": .text("base")], ("a", { $0.set["x"] = "A" }),
      ("b", { $0.set["x"] = "B" }))
    let outcome = AppendOnlyEntries().outcome(of: episode)
    #expect(outcome.kept == ["x": [.text("base"), .text("A"), .text("B")]])
  }

  @Test func everyNamedPolicyContends() {
    let names = Strategies.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.filter { $0.hasPrefix("container.") }.count == 9)
    #expect(names.filter { $0.hasPrefix("rejoin + ") }.count == 10)
    #expect(Strategies.usual.count == 7)
    #expect(names.first == "recordByServerTime")
    #expect(names.last == "rejoin")
  }
}
