// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import _RejoinVerification

/// A search of the explorer and the simulator, in parallel.
struct Search {
  let isNightly: Bool
  let seeds: Range<UInt64>
  /// After this time, no program or simulation starts.
  let deadline: ContinuousClock.Instant?

  private var scale: SimulationScale { isNightly ? .long : .quick }

  func run() async -> SearchResult {
    let start = ContinuousClock.now
    async let simulated = simulate()
    async let explored = explore()
    return SearchResult(
      explored: await explored, simulated: await simulated, seeds: seeds,
      scale: scale, time: .now - start)
  }

  private func explore() async -> SearchResult.Explored {
    var result = SearchResult.Explored()
    let programs =
      isNightly ? ExplorerProgram.nightly : ExplorerProgram.quick
    let special = isNightly ? ExplorerProgram.nightlySpecial.count : 0
    let start = ContinuousClock.now
    await tryEngines(
      until: deadline.map { start + start.duration(to: $0) / 3 }, &result)
    exploreCalls(
      until: deadline.map { start + start.duration(to: $0) / 2 }, &result)
    // Half of the rest is for the programs that come first, in equal parts.
    for (number, program) in programs.prefix(special).enumerated() {
      let now = ContinuousClock.now
      let end = deadline.map {
        now + now.duration(to: $0) / (2 * special - number)
      }
      explore(program, ReplicaUnderTest.self, until: end, &result)
    }
    let fragments =
      isNightly
      ? ExplorerProgram.nightlyFragments : ExplorerProgram.quickFragments
    for program in fragments {
      explore(program, FragmentingReplica.self, until: deadline, &result)
    }
    for program in programs.dropFirst(special) {
      explore(program, ReplicaUnderTest.self, until: deadline, &result)
    }
    return result
  }

  private func exploreCalls(
    until end: ContinuousClock.Instant?, _ result: inout SearchResult.Explored
  ) {
    for program in isNightly ? CallProgram.nightly : CallProgram.quick {
      guard result.callFault == nil, goesOn(until: end) else { return }
      var explorer = CallExplorer(program)
      do {
        result.calls += try explorer.search(
          atMost: isNightly ? 800_000 : 120_000
        ) { goesOn(until: end) }
        result.programs.append(program.name)
      } catch { result.callFault = error.what }
    }
  }

  private func tryEngines(
    until end: ContinuousClock.Instant?, _ result: inout SearchResult.Explored
  ) async {
    for seed in seeds where result.engineFault == nil && goesOn(until: end) {
      do {
        result.engines.add(try await EngineTrial(seed: seed).run())
        var days = try ObjectTrial(seed: seed)
        result.objects.add(try days.run())
        result.trials += 1
      } catch { result.engineFault = "trial of seed \(seed): \(error)" }
    }
  }

  private func explore<Replica: TestedReplica>(
    _ program: ExplorerProgram, _: Replica.Type,
    until end: ContinuousClock.Instant?,
    _ result: inout SearchResult.Explored
  ) {
    func isEarly() -> Bool { goesOn(until: end) }
    guard result.violation == nil, isEarly() else { return }
    var explorer = Explorer<Replica>(program)
    do {
      let counts = try explorer.search(while: isEarly)
      result.counts += counts
      result.programs.append(
        counts.isComplete
          ? program.name
          : "\(program.name) (\(counts.configurations) configurations, "
            + "not complete)")
    } catch { result.violation = error }
  }

  /// Runs the seeds twice: with fields sent as the library sends them, and with
  /// fragments of all fields that support them.
  private func simulate() async -> SimulationResult {
    let (start, end) = (ContinuousClock.now, deadline)
    let middle = end.map { start + (start.duration(to: $0) / 2) }
    var result = Simulator.run(seeds: seeds, scale: scale) {
      goesOn(until: middle)
    }
    result += Simulator.run(
      FragmentingReplica.self, seeds: seeds, scale: scale
    ) { goesOn(until: end) }
    return result
  }

  private func goesOn(until end: ContinuousClock.Instant?) -> Bool {
    end.map { .now < $0 } ?? true
  }
}
