// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct WorkloadTests {
  @Test func theSameSeedGivesTheSameEpisodes() {
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

  @Test func moreEpisodesBeginWithTheSameOnes() {
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
}
