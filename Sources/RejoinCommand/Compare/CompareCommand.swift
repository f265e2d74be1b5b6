// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

/// `rejoin compare` compares what strategies lose on the same edits.
struct CompareCommand {
  let source: Source
  let format: OutputFormat
  private let chosen: [any Contender]
  let programs: [ProgramContender]
  private let explained: String?
  let isWhole: Bool
  private let printsEndings: Bool
  /// The path of the page to write.
  private let page: String?
  /// The path of the episodes to write.
  private let export: String?
  /// The workloads by their names.
  let workloads: [(name: String, Workload)]

  /// The source of the episodes.
  enum Source {
    case generated
    case files([String])
    case git(GitHistory, [String])
    case versions(base: String, mine: String, theirs: String)
  }

  /// Reads the arguments of `compare`.
  init(_ arguments: Arguments) throws(CommandError) {
    try Self.checkThatAllApply(arguments)
    source = try Self.source(arguments)
    kinds = try Self.kinds(arguments.value("kinds"))
    format = try Self.format(arguments.value("format"))
    isWhole = arguments.has("all")
    printsEndings = arguments.has("endings")
    chosen =
      try Self.strategies(arguments.value("strategies"))
      ?? (isWhole ? Strategies.all : Strategies.usual)
    programs = arguments.values("contender").map(ProgramContender.init)
    explained = arguments.value("explain")
    page = arguments.value("html")
    export = arguments.value("export")
    let printsTables =
      (format == .table || format == .markdown) && export == nil
      && page == nil && explained == nil && !printsEndings
    workloads = try Self.workloads(
      arguments, areShort: printsTables && !isWhole)
    try checkThatWorkloadOptionsApply(arguments)
  }

  /// The kinds of fields that data does not declare.
  let kinds: DeclaredKinds

  var isGenerated: Bool {
    if case .generated = source { true } else { false }
  }

  /// Prints the comparison, or writes what an option asks for.
  func run() throws {
    if let export { return try writeEpisodes(to: export) }
    if printsEndings { return try printEndings() }
    if let page { return try writePage(to: page, explained) }
    if let explained { return Terminal.write(try explanation(of: explained)) }
    switch format {
    case .json: Terminal.write(try document().document)
    case .jsonl: Terminal.write(try document().lines)
    case .table: try printText(.table)
    case .markdown: try printText(.markdown)
    }
  }

  private func printText(_ format: TextFormat) throws {
    let heading = format == .markdown ? "## " : ""
    Terminal.write("\(heading)\(Report.question)\n\n")
    var faults = ProgramFaults(programs)
    if isGenerated {
      try printGenerated(format, &faults)
    } else {
      try printRecords(format, &faults)
    }
    Terminal.write(faults.text(format))
  }

  /// Prints the endings of one strategy, as a contender writes them.
  private func printEndings() throws {
    let episodes = try readEpisodes()
    let strategies = try strategies(for: episodes)
    guard let strategy = strategies.first, strategies.count == 1 else {
      throw CommandError.usage(
        "--endings needs one strategy; write --strategies NAME")
    }
    Terminal.write(EndingDecoder.introduction(of: strategy) + "\n")
    for episode in episodes {
      let outcome = try strategy.outcome(of: episode)
      Terminal.write(outcome.line(for: episode) + "\n")
    }
  }

  private func printGenerated(
    _ format: TextFormat, _ faults: inout ProgramFaults
  ) throws {
    for (index, (name, workload)) in workloads.enumerated() {
      let result = try compared(episodes(name, workload)) {
        faults.add($0, $1)
      }
      let report = Report(
        result, of: .generated(name: name, workload), isWhole: isWhole)
      let text = report.text(
        format, colors: Terminal.hasColors, hasNotes: index == 0)
      Terminal.write(text + "\n")
      if isWhole {
        let table = try sensitivity(name, workload, first: result).table
        Terminal.write(table.text(format) + "\n")
      }
    }
    for example in WorkedExample.all {
      let strategies = try strategies(for: [example.episode])
      Terminal.write(try ExampleReport(example, strategies).text(format) + "\n")
    }
  }

  private func printRecords(
    _ format: TextFormat, _ faults: inout ProgramFaults
  ) throws {
    let all = try readEpisodes()
    let counted = all.filter(\.countsInTotals)
    let result = try compared(counted) { faults.add($0, $1) }
    let report = Report(result, isWhole: isWhole)
    Terminal.write(report.text(format, colors: Terminal.hasColors))
    let warning = Resolutions.warning(all)
    for text in Resolutions(counted).sentences + [warning].compactMap(\.self) {
      Terminal.write("\n" + text.wrapped() + "\n")
    }
  }
}

extension CompareCommand {
  /// The strategies, and the endings of the programs on the episodes.
  func strategies(for episodes: [Episode]) throws -> [any Contender] {
    let both =
      isGenerated ? episodes : episodes + episodes.map(\.arrivingReversed)
    var strategies = chosen
    for program in programs {
      let contender = try program.contender(for: both)
      if strategies.contains(where: { $0.name == contender.name }) {
        throw CommandError.failed(
          "the contender `\(program.command)` has the name "
            + "\"\(contender.name)\" of another strategy; give it a name of its "
            + "own")
      }
      strategies.append(contender)
    }
    return strategies
  }

  func compared(
    _ episodes: [Episode],
    report: (Episode, [EpisodeVerdict]) throws -> Void = { _, _ in }
  ) throws -> RejoinComparison.ComparisonResult {
    var line = ProgressLine("comparing episodes", of: episodes.count)
    defer { line.finish() }
    return try Comparison(
      strategies(for: episodes), triesBothOrders: !isGenerated
    ).run(episodes, progress: { line.update($0) }, report: report)
  }

  /// The results of a workload for other seeds, and where more changes meet.
  func sensitivity(
    _ name: String, _ workload: Workload,
    first: RejoinComparison.ComparisonResult
  ) throws -> Sensitivity {
    let isRate = Subject.isRate(name)
    var sensitivity = Sensitivity(isRate ? name : "\(name), not a rate")
    let runs = Sensitivity.runs(of: workload, isRate: isRate)
    for (index, run) in runs.enumerated() {
      let result =
        index == 0 ? first : try compared(episodes(name, run.workload))
      sensitivity.add(result, of: run)
    }
    return sensitivity
  }

  /// The episodes of a workload, which bear its name.
  func episodes(_ name: String, _ workload: Workload) -> [Episode] {
    workload.generate().map { episode in
      var episode = episode
      episode.id = name + episode.id.dropFirst("generated".count)
      return episode
    }
  }

  /// The episodes to compare, which are at least one.
  func readEpisodes() throws -> [Episode] {
    let episodes: [Episode]
    switch source {
    case .generated:
      return WorkedExample.all.map(\.episode)
        + workloads.flatMap { self.episodes($0.name, $0.1) }
    case .files(let files):
      let texts = try files.map { (try Files.read($0), $0) }
      do {
        episodes = try texts.flatMap { bytes, name in
          try EpisodeFile.episodes(in: bytes, file: name, kinds)
        }
      } catch {
        throw CommandError.usage("\(error)")
      }
    case .git(let history, let paths):
      episodes = try history.episodes(paths, kinds)
    case .versions(let base, let mine, let theirs):
      episodes = try OwnData.episodes(
        base: base, mine: mine, theirs: theirs, kinds)
    }
    try check(kinds, in: episodes)
    if !episodes.contains(where: \.countsInTotals) {
      throw CommandError.usage(
        "no record was changed on both sides; compare files in which some were")
    }
    return episodes
  }

  /// Refuses a kind of a field that no compared record has, such as a
  /// misspelled one.
  private func check(
    _ kinds: DeclaredKinds, in episodes: [Episode]
  ) throws(CommandError) {
    var fields: Set<String> = []
    for episode in episodes { fields.formUnion(episode.fields) }
    let unknown = Set(kinds.byField.keys).subtracting(fields).sorted()
    if unknown.isEmpty || episodes.isEmpty { return }
    throw .usage(
      "--kinds names \(unknown.map { "\"\($0)\"" }.joined(separator: ", ")), "
        + "which no compared record has; name some of these fields: "
        + fields.sorted().joined(separator: ", "))
  }

  private func document() throws -> ComparisonJSON {
    var json = ComparisonJSON()
    func add(_ episodes: [Episode], _ subject: Subject) throws {
      var verdicts: [JSONValue] = []
      let result = try compared(episodes) { episode, verdict in
        verdicts.append(ComparisonJSON.verdict(episode, verdict))
      }
      json.add(result, of: subject, verdicts: verdicts)
    }
    guard isGenerated else {
      try add(readEpisodes().filter(\.countsInTotals), .records)
      return json
    }
    for (name, workload) in workloads {
      try add(episodes(name, workload), .generated(name: name, workload))
    }
    for example in WorkedExample.all {
      let strategies = try strategies(for: [example.episode])
      try json.add(ExampleReport(example, strategies))
    }
    return json
  }
}
