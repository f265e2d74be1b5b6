// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct ContenderTests {
  @Test func clocksThatStepBackCanMakeAVectorClockOrderDisagree() {
    var episode = Episode(
      [:], ("a", { $0.set["x"] = "w1" }), ("a", { $0.set["x"] = "w2" }),
      ("c", { $0.set["x"] = "w3" }))
    (episode.edits[0].at, episode.edits[1].at) = (30, 10)
    episode.edits[2].at = 20
    let outcome = TimestampThenVectorClock().outcome(of: episode)
    #expect(!outcome.agrees)
    #expect(
      Set(outcome.states) == [["x": .text("w2")], ["x": .text("w3")]])
  }

  @Test func aClockAheadWinsByTimeAndNotByArrival() {
    var episode = Episode(
      [:], ("a", { $0.set["x"] = "ahead" }), ("b", { $0.set["x"] = "late" }))
    episode.edits[0].at = 1_000_000
    episode.arrival = ["a", "b"]
    #expect(
      RecordByTime().outcome(of: episode).states == [["x": .text("ahead")]])
    #expect(
      RecordByArrival().outcome(of: episode).states == [["x": .text("late")]])
  }

  @Test func allKeysLeavesWhatOnlyTheServerHas() {
    let episode = Episode(
      [:], ("a", { $0.set["x"] = "A" }), ("b", { $0.set["y"] = "B" }))
    #expect(
      RecordByArrival().outcome(of: episode).states
        == [["x": .text("A"), "y": .text("B")]])
    #expect(
      RecordByTime().outcome(of: episode).states == [["y": .text("B")]])
  }

  @Test func aQueuedEditIsMergedOnTheCopyItWasMadeOn() {
    let episode = Episode(
      ["n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 10 }), ("b", { $0.increment["n"] = 1 }),
      ("b", { $0.increment["n"] = 1 }))
    #expect(
      ChangeTag(.mergeByPropertyObjectTrump).outcome(of: episode).states
        == [["n": .count(7)]])
    #expect(
      ChangeTag(.mergeByPropertyStoreTrump).outcome(of: episode).states
        == [["n": .count(15)]])
  }

  @Test func anUpdateOfARecordDeletedMeanwhileSavesTheWholeCopy() {
    let base: PlainRecord = ["x": .text("old"), "y": .text("old")]
    let episode = Episode(
      base, ("a", { $0.isDeletion = true }), ("b", { $0.set["x"] = "B" }))
    let whole: PlainRecord = ["x": .text("B"), "y": .text("old")]
    #expect(ChangedKeys().outcome(of: episode).states == [whole])
    #expect(PendingChanges().outcome(of: episode).states == [whole])
    #expect(
      ChangeTag(.mergeByPropertyObjectTrump).outcome(of: episode).states
        == [whole])
    #expect(
      ChangeTag(.mergeByPropertyStoreTrump).outcome(of: episode).states
        == [nil])
    #expect(
      RecordPerAttribute().outcome(of: episode).states
        == [["x": .text("B")]])
  }

  @Test func twoCreationsUnderAUniqueKeyKeepWhatIsNotNil() {
    let episode = Episode(
      nil, ("a", { $0.set = ["x": "A", "y": "A"] }),
      ("b", { $0.set = ["x": .null, "y": "B"] }))
    #expect(
      ChangeTag(.mergeNonNil).outcome(of: episode).states
        == [["x": .text("A"), "y": .text("B")]])
    #expect(
      ChangeTag(.mergeByPropertyObjectTrump).outcome(of: episode).states
        == [["x": .value(.null), "y": .text("B")]])
  }

  @Test func everyPolicyWithANameContends() {
    let names = Strategies.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.filter { $0.hasPrefix("changeTag.") }.count == 9)
    #expect(names.first == "recordByTime")
    #expect(names.last == "rejoin")
  }
}
