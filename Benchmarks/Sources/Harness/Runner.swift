// SPDX-License-Identifier: Apache-2.0

/// Runs benchmarks.
public struct Runner {
  private static let leastRuns = 9
  private static let mostRuns = 50
  /// The approximate total time of a benchmark's runs.
  private static let patience = Duration.seconds(2)
  /// The time above which a run is repeated only twice.
  private static let slowness = Duration.seconds(8)

  let scale: Scale
  /// A closure that receives a line about the current work.
  let progress: (String) -> Void
  private var references: [Reference: Double] = [:]

  /// Creates a runner.
  public init(_ scale: Scale, progress: @escaping (String) -> Void) {
    (self.scale, self.progress) = (scale, progress)
  }

  /// Runs the benchmarks whose names contain one of the given texts, or all.
  ///
  /// - Throws: ``HarnessError`` if a result is wrong.
  public mutating func run(
    _ suite: Suite, filters: [String] = []
  ) throws -> [Row] {
    let chosen = suite.benchmarks.filter { benchmark in
      filters.isEmpty
        || filters.contains { filter in
          benchmark.id == filter || benchmark.work.contains(filter)
        }
    }
    var rows: [Row] = []
    for (number, benchmark) in chosen.enumerated() {
      progress(
        "\(number + 1)/\(chosen.count) \(benchmark.id) \(benchmark.work)")
      if let reference = benchmark.reference, references[reference] == nil {
        references[reference] = try measure(reference.benchmark).best
      }
      rows.append(try measure(benchmark))
    }
    return rows + suite.growths.compactMap { $0.row(rows) }
  }

  private func measure(_ benchmark: Benchmark) throws -> Row {
    switch benchmark.body {
    case .size(let body, let count, let quick):
      let bytes = try body(scale)
      if scale == .quick, let quick, bytes != quick {
        throw HarnessError(
          "\(benchmark.id), \(benchmark.work): \(bytes), expected \(quick)")
      }
      let items = count == 1 ? 1 : scale(count)
      return row(benchmark, [Double(bytes) / Double(items)])
    case .times(let body): return row(benchmark, [try body(scale)])
    case .time(let prepare):
      let work = try prepare(scale)
      let runs = try repeated {
        let run = try work.run()
        if run.result == work.expecting { return run }
        throw HarnessError(
          "\(benchmark.id), \(benchmark.work): the result is \(run.result), "
            + "expected \(work.expecting)")
      }
      let operations = Double(work.operations)
      var row = row(
        benchmark, runs.map { $0.time / .nanoseconds(1) / operations })
      // The first run may allocate memory that the next ones reuse.
      row.allocations = runs.last.map { Double($0.allocations) / operations }
      row.held = runs.last.map { Double($0.held) / operations }
      if let reference = benchmark.reference, let best = references[reference] {
        row.reference = reference.rawValue
        row.ratio = row.best / best
      }
      return row
    }
  }

  private func row(_ benchmark: Benchmark, _ figures: [Double]) -> Row {
    let sorted = figures.sorted()
    return Row(
      id: benchmark.id, work: benchmark.work, size: benchmark.size,
      item: benchmark.item, best: sorted[0], median: sorted[sorted.count / 2],
      runs: sorted.count, target: benchmark.target)
  }

  private func repeated(_ run: () throws -> Work.Run) throws -> [Work.Run] {
    let first = try run()
    if scale == .quick { return [first] }
    if first.time > Self.slowness { return [first, try run(), try run()] }
    // The first run was the warm-up.
    var runs: [Work.Run] = []
    let end = ContinuousClock.now + Self.patience
    while runs.count < Self.leastRuns
      || (runs.count < Self.mostRuns && ContinuousClock.now < end)
    {
      runs.append(try run())
    }
    return runs
  }
}
