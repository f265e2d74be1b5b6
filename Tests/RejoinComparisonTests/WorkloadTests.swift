// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct WorkloadTests {
  /// An edit without a change could not be lost.
  @Test(arguments: [Workload.calm, .busy, .hostile])
  func everyEditChangesItsFields(workload: Workload) {
    var workload = workload
    workload.episodes = 200
    for episode in workload.generate() {
      var copies: [String: PlainRecord?] = [:]
      for edit in episode.edits {
        let before = copies[edit.device] ?? episode.base
        let after = edit.applied(to: before, of: episode.kinds)
        #expect(edit.isDeletion || !edit.fields.isEmpty)
        for field in edit.fields {
          #expect(before?[field] != after?[field], "\(episode.id) \(edit)")
        }
        copies.updateValue(after, forKey: edit.device)
      }
    }
  }

  @Test func equalSeedsGiveEqualEpisodes() {
    var workload = Workload()
    workload.episodes = 30
    let first = workload.generate()
    let again = workload.generate()
    #expect(first.map(\.edits) == again.map(\.edits))
    #expect(first.map(\.base) == again.map(\.base))
    #expect(first.map(\.arrival) == again.map(\.arrival))
    workload.seed = 2
    #expect(first.map(\.edits) != workload.generate().map(\.edits))
  }

  @Test func longerWorkloadStartsWithSameEpisodes() {
    var workload = Workload()
    workload.episodes = 5
    let few = workload.generate().map(\.edits)
    workload.episodes = 9
    #expect(workload.generate().map(\.edits).prefix(5) == few[...])
  }

  @Test func seedsGiveUnrelatedEpisodes() {
    var workload = Workload()
    workload.episodes = 20
    let first = workload.generate().map(\.edits)
    workload.seed = 2
    let second = workload.generate().map(\.edits)
    #expect(Set(first).isDisjoint(with: second))
  }

  @Test func parametersAreKept() {
    var workload = Workload()
    (workload.episodes, workload.devices) = (40, 5)
    (workload.editsPerDevice, workload.skew) = (3, 0)
    (workload.counters, workload.sets, workload.fields) = (0.5, 0.5, 4)
    for episode in workload.generate() {
      #expect(episode.devices.count == 5)
      #expect(episode.edits.count == 15)
      #expect(episode.kinds.values.filter { $0 == .counter }.count == 2)
      #expect(episode.kinds.values.filter { $0 == .set }.count == 2)
      for device in episode.devices {
        let times = episode.edits.filter { $0.device == device }.map(\.at)
        #expect(times == times.sorted())
      }
    }
  }

  /// After contact, all devices start with one record, which has the edits of
  /// all devices.
  @Test func contactSharesEditsOfAllDevices() {
    var workload = Workload.busy
    (workload.episodes, workload.skew, workload.deletions) = (20, 0, 0)
    let parts = workload.generate()
    #expect(
      parts.map(\.id).prefix(3) == [
        "generated-1.1", "generated-1.2",
        "generated-2.1",
      ])
    for (first, second) in zip(parts, parts.dropFirst())
    where second.id.hasSuffix(".2") {
      #expect(first.edits.count == 6 && second.edits.count == 6)
      var record = first.base
      for edit in first.edits.sorted(by: {
        ($0.at, $0.device) < ($1.at, $1.device)
      }) {
        record = edit.applied(to: record, of: first.kinds)
      }
      #expect(second.base == record)
      #expect(
        first.edits.map(\.at).min() ?? 0 < second.edits.map(\.at).min() ?? 0)
    }
  }

  /// In a calm workload, few edits meet: about one in eight changed fields.
  @Test func calmEpisodesSeldomConflict() {
    let episodes = Workload.calm.generate()
    var (touched, contested) = (0, 0)
    for episode in episodes {
      let fields = Dictionary(
        grouping: episode.edits.flatMap(\.fields), by: \.self)
      touched += fields.count
      contested += fields.values.filter { $0.count > 1 }.count
    }
    let share = Double(contested) / Double(touched)
    #expect(share > 0.02 && share < 0.15, "\(share)")
  }

  @Test func contentionMakesEveryEditMeet() {
    var workload = Workload.calm
    workload.contention = 1
    for episode in workload.generate()
    where !episode.edits.contains(where: \.isDeletion) {
      #expect(
        episode.edits.allSatisfy { $0.fields.contains("field20") },
        "\(episode.id)")
    }
  }

  /// The workload does not choose the only field a second time.
  @Test func contentionChoosesNoFieldTwice() {
    var workload = Workload.busy
    (workload.fields, workload.contention) = (1, 1e-9)
    let chosenOnce = workload.generate().map(\.edits)
    workload.contention = 1
    #expect(workload.generate().map(\.edits) == chosenOnce)
  }
}
