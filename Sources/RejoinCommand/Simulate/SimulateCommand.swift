// SPDX-License-Identifier: Apache-2.0
import Foundation
import RejoinTesting
import _RejoinVerification

/// `rejoin simulate` searches the library for faults and prints the shortest
/// script that shows one.
struct SimulateCommand {
  static let command = Command(
    name: "simulate",
    purpose: "search the library for faults, and print a script of one",
    usage: "[OPTION…]",
    discussion: """
      Two searches run in parallel. The explorer tries every interleaving of a few
      saves on three replicas with exchanges of messages that are delayed, split,
      duplicated and relayed, and with wrong clocks. The simulator runs many devices
      for weeks of simulated time, with failing networks, clocks and storage, and
      all of it follows from a seed. After every step, an oracle, which knows only
      which saves each device has seen, checks what the device shows.

      If a device shows something else, the command shrinks the script that led
      there, prints it for `rejoin replay`, and exits with code 1. Otherwise it
      prints how much it checked. After an interrupt (Ctrl-C), it prints what it
      checked so far and exits with code 130.
      """,
    sections: [
      .init(
        title: "OPTIONS",
        options: [
          .init(
            flag: "nightly",
            "larger programs, and longer simulations of more devices"),
          .init(
            "minutes", "M",
            "start no program or simulation after this time (1–100000)"),
          .init(
            "seeds", "N",
            "number of simulations (default 1000, or 100000 with --nightly)"),
          .init("seed", "S", "seed of the first simulation (default 0)"),
          .init(
            "report", "FILE",
            "write the counts, the seeds and the time as Markdown"),
        ])
    ],
    examples: [
      "simulate", "simulate --seed 4711 --seeds 1",
      "simulate --nightly --minutes 30 --report nightly.md",
    ],
    run: { try await SimulateCommand($0).run() })

  private let isNightly: Bool
  private let seeds: Range<UInt64>
  private let deadline: ContinuousClock.Instant?
  private let report: String?
  private let progress: SimulateProgress

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
    let programs = Self.programs(isNightly) + Self.fragments(isNightly)
    // Each seed runs twice.
    progress = SimulateProgress(programs: programs.count, runs: 2 * seeds.count)
  }

  private var scale: SimulationScale { isNightly ? .long : .quick }

  /// Explores and simulates in parallel, and prints the result.
  func run() async throws {
    let start = ContinuousClock.now
    Interruption.catchFirst()
    let (programs, fragments) = (
      Self.programs(isNightly), Self.fragments(isNightly)
    )
    // Write this line first. It fails before the long work if standard output
    // cannot be written to.
    Terminal.write(
      "exploring \((programs.count + fragments.count).counted("program")), "
        + "simulating \(seeds.count.counted("seed")) from \(seeds.lowerBound)\n"
    )
    async let simulated = simulate()
    async let explored = explore()
    let result = SimulateResult(
      explored: await explored, simulated: await simulated, seeds: seeds,
      scale: scale, time: .now - start)
    progress.finish()
    if let report { try Files.write(result.markdown, to: report) }
    Terminal.write(result.text)
    if let fault = result.fault {
      Terminal.write(fault.script)
      throw CommandError.failed(
        "\(fault.what)\nThe script above shows it. Save it to a file, and run "
          + "`rejoin replay FILE`")
    }
    if Interruption.isRequested {
      throw CommandError(
        message: "interrupted; the counts above are of the work until then",
        exitCode: 128 + SIGINT)
    }
  }

  private static func programs(_ isNightly: Bool) -> [ExplorerProgram] {
    isNightly ? ExplorerProgram.nightly : ExplorerProgram.quick
  }

  private static func fragments(_ isNightly: Bool) -> [ExplorerProgram] {
    isNightly
      ? ExplorerProgram.nightlyFragments : ExplorerProgram.quickFragments
  }

  private func explore() async -> SimulateResult.Explored {
    var result = SimulateResult.Explored()
    let special = isNightly ? ExplorerProgram.nightlySpecial.count : 0
    // Half of the time is for the programs that come first, in equal parts.
    let programs = Self.programs(isNightly)
    for (number, program) in programs.prefix(special).enumerated() {
      let now = ContinuousClock.now
      let end = deadline.map {
        now + now.duration(to: $0) / (2 * special - number)
      }
      explore(program, ReplicaUnderTest.self, until: end, &result)
    }
    for program in Self.fragments(isNightly) {
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
      progress.finishProgram()
    } catch { result.violation = error }
  }

  /// Runs the seeds twice: with fields sent as the library sends them, and with
  /// fragments of all fields that support them.
  private func simulate() async -> SimulationResult {
    let (start, end) = (ContinuousClock.now, deadline)
    let middle = end.map { start + (start.duration(to: $0) / 2) }
    func goesOn(_ end: ContinuousClock.Instant?) -> Bool {
      progress.finishSeed()
      return self.goesOn(until: end)
    }
    var result = Simulator.run(seeds: seeds, scale: scale) { goesOn(middle) }
    if Interruption.isRequested { return result }
    result += Simulator.run(
      FragmentingReplica.self, seeds: seeds, scale: scale
    ) { goesOn(end) }
    return result
  }

  private func goesOn(until end: ContinuousClock.Instant?) -> Bool {
    !Interruption.isRequested && (end.map { .now < $0 } ?? true)
  }
}
