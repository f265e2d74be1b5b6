// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RejoinComparison

/// The search for faults of contenders, on the workload `reported`.
@Suite struct FaultTests {
  /// A queue that sends a deletion and drops the insertion after it.
  private struct Swallowing: Contender {
    let name = "swallowing"
    let rule = "a deletion replaces what its device saved after it"

    func outcome(of episode: Episode) throws -> Outcome {
      var sent = episode
      var deleting: Set<String> = []
      sent.edits = episode.edits.filter { edit in
        if edit.isDeletion { deleting.insert(edit.device) }
        return edit.isDeletion || !deleting.contains(edit.device)
      }
      sent.arrival = episode.arrival ?? episode.devices
      return try RejoinContender().outcome(of: sent)
    }
  }

  private var episodes: [Episode] {
    var workload = Workload.reported
    workload.episodes = 300
    return workload.generate()
  }

  private func verdicts(
    on contender: some Contender, _ episodes: [Episode]
  ) throws -> [EpisodeVerdict] {
    var verdicts: [EpisodeVerdict] = []
    _ = try Comparison([contender]).run(episodes) { verdicts += $1 }
    return verdicts
  }

  private func smallest(
    _ fault: Fault, of contender: some Contender
  ) throws -> Episode {
    let episodes = episodes
    let first = try verdicts(on: contender, episodes)
      .firstIndex(where: fault.isIn)
    let index = try #require(first)
    return episodes[index].smallest(with: fault) {
      try? verdicts(on: contender, $0)
    }
  }

  @Test func rejoinHasNoFault() throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      var workload = Workload.reported
      workload.seed = seed
      for verdict in try verdicts(on: RejoinContender(), workload.generate()) {
        #expect(verdict.losses.isLossless && verdict.losses.disagreements == 0)
      }
    }
  }

  /// Equal times, and each device keeps its own value: two edits show it.
  @Test func equalTimesAreFound() throws {
    let episode = try smallest(.disagreement, of: FieldByTime.shipped)
    #expect(episode.edits.count == 2 && episode.earlier.isEmpty)
    #expect(episode.edits[0].device != episode.edits[1].device)
    #expect(episode.edits[0].at == episode.edits[1].at)
    #expect(episode.edits[0].fields == episode.edits[1].fields)
    #expect(episode.edits[0].fields.count == 1)
    #expect((episode.base ?? [:]).isEmpty)
  }

  /// A deletion, and an insertion by the same device.
  @Test func swallowedInsertionIsFound() throws {
    let episode = try smallest(.existence, of: Swallowing())
    #expect(Set(episode.edits.map(\.device)).count == 1)
    #expect(episode.edits.map(\.isDeletion) == [true, false])
    #expect(episode.edits[1].fields.count == 1)
    #expect(episode.earlier.isEmpty && episode.repeatedArrivals.isEmpty)
  }

  /// A device knows the deletion, and its clock is behind that of the deletion.
  @Test func insertionBehindSlowClockIsFound() throws {
    var creation = Episode.Edit("a", at: 80)
    creation.set = ["x": "old"]
    var deletion = Episode.Edit("a", at: 100)
    deletion.isDeletion = true
    var insertion = Episode.Edit("b", at: 90)
    insertion.set = ["x": "new"]
    var episode = Episode(
      id: "slow", base: nil, edits: [insertion], arrival: ["a", "b"])
    episode.earlier = [creation, deletion]
    let verdicts = try verdicts(on: FieldByTime.documented, [episode])
    #expect(Fault.existence.isIn(try #require(verdicts.first)))
    let rejoin = try self.verdicts(on: RejoinContender(), [episode])
    #expect(rejoin[0].losses.isLossless && rejoin[0].outcome.agrees)
    // A strategy that starts from the base does not notice.
    let changed = try self.verdicts(on: ChangedKeys(), [episode])
    #expect(changed[0].losses.isLossless)
  }

  /// A contender with one ending.
  private struct Ending: Contender {
    let name = "ending"
    let rule = "always ends with this record"
    let record: PlainRecord?

    func outcome(of episode: Episode) -> Outcome {
      Outcome(everywhere: record)
    }
  }

  /// Whether a device deletes the record is open, but not what it contains.
  @Test func lossBesideDeletionIsFound() throws {
    let episode = Episode(
      ["x": .text("old")], ("a", { $0.set["x"] = "new" }),
      ("b", { $0.isDeletion = true }))
    func faults(_ record: PlainRecord?) throws -> [Fault] {
      let verdict = try verdicts(on: Ending(record: record), [episode])[0]
      return Fault.allCases.filter { $0.isIn(verdict) }
    }
    #expect(try faults(["x": .text("new")]) == [])
    #expect(try faults(nil) == [])
    #expect(try faults(["x": .text("old")]) == [.loss])
  }

  @Test func inventedFieldIsFound() throws {
    let episode = Episode(
      ["x": .text("old")], kinds: ["n": .counter, "t": .set],
      ("a", { $0.set["x"] = "new" }))
    for field in ["y", "n", "t"] {
      let content: Content =
        switch field {
        case "n": .count(1)
        case "t": .texts("tag")
        default: .text("zombie")
        }
      let ending = Ending(record: ["x": .text("new"), field: content])
      let verdict = try verdicts(on: ending, [episode])[0]
      #expect(Fault.loss.isIn(verdict) && verdict.losses.invented == 1)
    }
    let right = Ending(record: ["x": .text("new"), "n": .count(0)])
    #expect(!Fault.loss.isIn(try verdicts(on: right, [episode])[0]))
  }

  /// The search keeps an episode if the contender fails on smaller ones.
  @Test func searchEndsIfContenderFails() throws {
    let episode = try smallest(.disagreement, of: FieldByTime.shipped)
    var larger = episode
    larger.base = ["x": .text("old")]
    #expect(larger.smallest(with: .disagreement) { _ in nil }.base != nil)
  }

  @Test func workloadHasManyReportedSituations() {
    let episodes = episodes
    func share(_ holds: (Episode) -> Bool) -> Double {
      Double(episodes.count(where: holds)) / Double(episodes.count)
    }
    let ties = share { episode in
      episode.edits.contains { edit in
        episode.edits.contains {
          $0.device != edit.device && $0.at == edit.at
            && !$0.fields.isDisjoint(with: edit.fields)
        }
      }
    }
    let own = share { episode in
      zip(episode.edits, episode.edits.dropFirst()).contains {
        $0.isDeletion && !$1.isDeletion && $0.device == $1.device
      }
    }
    let others = share { episode in
      episode.earlier.last.map { deletion in
        episode.edits.contains { $0.device != deletion.device }
      } ?? false
    }
    #expect(ties > 0.3 && own > 0.1 && others > 0.2, "\(ties) \(own) \(others)")
    #expect(share { !$0.repeatedArrivals.isEmpty } > 0.3)
  }

  /// A device that arrives last loses its change.
  private struct FirstWins: Contender {
    let name = "first"
    let rule = "the first write to arrive wins"

    func outcome(of episode: Episode) -> Outcome {
      Outcome(everywhere: episode.uploads.first?.after)
    }
  }

  @Test func faultInOtherOrderIsFound() throws {
    var episode = Episode(
      ["x": .text("old")], ("a", { $0.set["x"] = "new" }),
      ("b", { $0.set["y"] = "new" }), ("b", { $0.isDeletion = true }))
    episode.arrival = ["a", "b"]
    var verdicts: [EpisodeVerdict] = []
    _ = try Comparison([FirstWins()], triesBothOrders: true)
      .run([episode]) { verdicts += $1 }
    #expect(!Fault.loss.isIn(verdicts[0]) && !Fault.existence.isIn(verdicts[0]))
    #expect(Fault.loss.isInReversed(verdicts[0]))
    #expect(episode.arrivingReversed.arrival == ["b", "a"])
  }

  @Test func reportShowsWhetherDevicesEndEqual() throws {
    let workload = Workload.reported
    func table(_ contender: any Contender) throws -> TextTable {
      let result = try Comparison([contender]).run(episodes)
      return Report(result, of: .generated(name: "reported", workload)).table
    }
    let right = try table(RejoinContender())
    #expect(right.header.last == "devices\ndisagree")
    #expect(right.rows[0].last?.text == "0")
    let shipped = try table(FieldByTime.shipped)
    #expect(shipped.rows[0].last?.text != "0")
  }
}
