// SPDX-License-Identifier: Apache-2.0

import RejoinComparison
import RejoinTesting

/// `rejoin compare` compares what strategies lose on the same edits.
struct CompareCommand {
  private let files: [String]
  private let format: ReportFormat
  private let strategies: [any Contender]
  private let explained: String?
  private let workload: Workload

  /// Reads the arguments of `compare`.
  init(_ arguments: Arguments) throws(CommandError) {
    files = arguments.operands
    format = try Self.format(arguments.value("format"))
    strategies = try Self.strategies(arguments.value("strategies"))
    explained = arguments.value("explain")
    workload = try Self.workload(arguments)
    let given = Self.workloadOptions.first { arguments.value($0) != nil }
    if let given, !files.isEmpty {
      throw .usage(
        "--\(given) applies to generated episodes; leave out the files, or "
          + "leave out --\(given)")
    }
  }

  private static let workloadOptions = ["seed", "episodes", "devices", "skew"]

  /// The options that take a value.
  static let options = ["format", "strategies", "explain"] + workloadOptions

  /// Prints the comparison.
  func run() throws {
    if let explained {
      Terminal.write(try explanation(of: explained))
    } else if files.isEmpty {
      if format != .json { try printExamples() }
      try printTable(generated, title: workloadTitle)
    } else {
      try printTable(readFiles(), title: nil)
    }
  }

  private var generated: [Episode] {
    workload.generate(using: SeededRandom.init(seed:))
  }

  private func readFiles() throws(CommandError) -> [Episode] {
    do {
      return try files.flatMap { try EpisodeFile.read($0) }
    } catch {
      throw .failed("\(error)")
    }
  }

  private func printExamples() throws {
    for example in WorkedExample.all {
      let report = ExampleReport(example, strategies)
      let text = try report.text(format, colours: Terminal.hasColours)
      Terminal.write(text + "\n")
    }
  }

  private func printTable(_ episodes: [Episode], title: String?) throws {
    var line = ProgressLine("comparing episodes", of: episodes.count)
    let result = try Comparison(strategies).run(episodes) { line.update($0) }
    line.finish()
    if let title, format != .json { Terminal.write(title + "\n") }
    Terminal.write(
      Report(result).text(format, colours: Terminal.hasColours))
  }

  private var workloadTitle: String {
    let text =
      "\(workload.episodes) generated episodes, \(workload.devices) devices, "
      + "clocks off by up to \(workload.skew) ms, seed \(workload.seed)"
    return format == .markdown ? "### \(text)\n" : text
  }

  private func explanation(of id: String) throws -> String {
    let episodes =
      files.isEmpty
      ? WorkedExample.all.map(\.episode) + generated
      : try readFiles()
    guard let episode = episodes.first(where: { $0.id == id }) else {
      let known = WorkedExample.all.map(\.episode.id).joined(separator: ", ")
      let mend =
        files.isEmpty
        ? "the IDs are \(known), and generated-1 to "
          + "generated-\(workload.episodes)"
        : "the IDs are in the files, under \"id\""
      throw CommandError.failed("no episode has the ID \"\(id)\"; \(mend)")
    }
    return try Explanation(episode, strategies).text()
  }
}

extension CompareCommand {
  private static func format(
    _ name: String?
  ) throws(CommandError) -> ReportFormat {
    guard let name else { return .table }
    guard let format = ReportFormat(rawValue: name) else {
      let known = ReportFormat.allCases.map(\.rawValue)
      throw .usage(
        "unknown format \"\(name)\"; use \(known.joined(separator: ", "))")
    }
    return format
  }

  private static func strategies(
    _ names: String?
  ) throws(CommandError) -> [any Contender] {
    guard let names else { return Strategies.all }
    var chosen: Set<String> = []
    for name in names.split(separator: ",", omittingEmptySubsequences: false) {
      guard let strategy = Strategies.named(String(name)) else {
        let known = Strategies.all.map(\.name).joined(separator: ", ")
        throw .usage("unknown strategy \"\(name)\"; use \(known)")
      }
      chosen.insert(strategy.name)
    }
    return Strategies.all.filter { chosen.contains($0.name) }
  }

  private static func workload(
    _ arguments: Arguments
  ) throws(CommandError) -> Workload {
    var workload = Workload()
    workload.seed =
      try arguments.integer("seed", in: 0...UInt64.max) ?? workload.seed
    workload.episodes =
      try arguments.integer("episodes", in: 1...1_000_000) ?? workload.episodes
    workload.devices =
      try arguments.integer("devices", in: 1...64) ?? workload.devices
    workload.skew =
      try arguments.integer("skew", in: 0...(1 << 40)) ?? workload.skew
    return workload
  }
}
