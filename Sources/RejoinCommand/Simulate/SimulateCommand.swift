// SPDX-License-Identifier: Apache-2.0
import Foundation
import _RejoinVerification

/// `rejoin simulate` searches the library for faults and prints the shortest
/// script that shows one.
struct SimulateCommand {
  /// The options that take a value.
  static let options = ["minutes", "report", "seed", "seeds"]
  /// The options that take no value.
  static let flags = ["help", "nightly"]

  private let isNightly: Bool
  private let seeds: Range<UInt64>
  private let deadline: ContinuousClock.Instant?
  private let report: String?

  init(_ arguments: Arguments) throws(CommandError) {
    guard arguments.operands.isEmpty else {
      throw .usage(
        "simulate takes no files, but \"\(arguments.operands[0])\" is given; "
          + "leave it out")
    }
    isNightly = arguments.has("nightly")
    let bounds: ClosedRange<UInt64> = 0...1_000_000_000_000
    let first = try arguments.integer("seed", in: bounds) ?? 0
    let count =
      try arguments.integer("seeds", in: bounds)
      ?? (isNightly ? 100_000 : 1_000)
    seeds = first..<(first + count)
    let minutes = try arguments.integer("minutes", in: 1...100_000)
    deadline = minutes.map { .now + .seconds(60 * $0) }
    report = arguments.value("report")
  }

  private var scale: SimulationScale { isNightly ? .long : .quick }

  /// Explores and simulates in parallel, and prints the result.
  func run() async throws {
    let start = ContinuousClock.now
    // Written first, so that a standard output that cannot be written to is
    // noticed before the long work.
    Terminal.write(
      "exploring \(programs.count + fragments.count) programs, "
        + "simulating \(seeds.count) seeds from \(seeds.lowerBound)\n")
    async let simulated = simulate()
    async let explored = explore()
    let result = SimulateResult(
      explored: await explored, simulated: await simulated, seeds: seeds,
      scale: scale, time: .now - start)
    try write(result)
    Terminal.write(result.text)
    guard let fault = result.fault else { return }
    Terminal.write(fault.script)
    throw CommandError.failed(
      "\(fault.what)\nThe script above shows it: save it to a file, and run "
        + "`rejoin replay FILE`")
  }

  private func write(_ result: SimulateResult) throws(CommandError) {
    guard let report else { return }
    do {
      try result.markdown.write(
        toFile: report, atomically: true, encoding: .utf8)
    } catch {
      throw .failed("\(report): the report cannot be written: \(error)")
    }
  }

  private var programs: [ExplorerProgram] {
    isNightly ? ExplorerProgram.nightly : ExplorerProgram.quick
  }

  private var fragments: [ExplorerProgram] {
    isNightly
      ? ExplorerProgram.nightlyFragments : ExplorerProgram.quickFragments
  }

  private func explore() async -> SimulateResult.Explored {
    var result = SimulateResult.Explored()
    let special = isNightly ? ExplorerProgram.nightlySpecial.count : 0
    // Half of the time is for the programs that come first, in equal parts.
    for (number, program) in programs.prefix(special).enumerated() {
      let now = ContinuousClock.now
      let end = deadline.map {
        now + now.duration(to: $0) / (2 * special - number)
      }
      explore(program, ReplicaUnderTest.self, until: end, &result)
    }
    for program in fragments {
      explore(program, FragmentingReplica.self, until: deadline, &result)
    }
    for program in programs.dropFirst(special) {
      explore(program, ReplicaUnderTest.self, until: deadline, &result)
    }
    return result
  }

  private func explore<Replica: TestedReplica>(
    _ program: ExplorerProgram, _: Replica.Type,
    until end: ContinuousClock.Instant?,
    _ result: inout SimulateResult.Explored
  ) {
    func isEarly() -> Bool { end.map { .now < $0 } ?? true }
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

  /// Runs the seeds twice: with fields sent as the library has it, and with
  /// fragments wherever there can be any.
  private func simulate() async -> SimulationResult {
    let (start, end) = (ContinuousClock.now, deadline)
    let middle = end.map { start + (start.duration(to: $0) / 2) }
    var result = Simulator.run(seeds: seeds, scale: scale) {
      middle.map { .now < $0 } ?? true
    }
    result += Simulator.run(
      FragmentingReplica.self, seeds: seeds, scale: scale
    ) { end.map { .now < $0 } ?? true }
    return result
  }
}
