// SPDX-License-Identifier: Apache-2.0

import struct Foundation.Data
import struct Foundation.URL
import Rejoin
import RejoinComparison
import RejoinTesting

/// `rejoin compare` compares what strategies lose on the same edits.
struct CompareCommand {
  private let source: Source
  private let format: ReportFormat
  private let strategies: [any Contender]
  private let explained: String?
  private let isWhole: Bool
  /// Whether rules for contested values are compared in place of strategies.
  private let isOfSuggestions: Bool
  /// The path of the page to write.
  private let page: String?
  /// The workloads by their names.
  private let workloads: [(name: String, Workload)]

  /// Where the episodes come from.
  private enum Source {
    case generated
    case files([String])
    case git(GitHistory, [String])
    case versions(base: String, mine: String, theirs: String)
  }

  /// Reads the arguments of `compare`.
  init(_ arguments: Arguments) throws(CommandError) {
    source = try Self.source(arguments)
    format = try Self.format(arguments.value("format"))
    isWhole = arguments.has("all")
    isOfSuggestions = arguments.has("suggestions")
    strategies =
      try Self.strategies(arguments.value("strategies"))
      ?? (isWhole ? Strategies.all : Strategies.usual)
    explained = arguments.value("explain")
    page = arguments.value("html")
    workloads = try Self.workloads(arguments)
    let given = Self.workloadOptions.first { arguments.value($0) != nil }
    if let given, !isGenerated {
      throw .usage(
        "--\(given) applies to generated episodes; leave out the data, or "
          + "leave out --\(given)")
    }
  }

  private var isGenerated: Bool {
    if case .generated = source { true } else { false }
  }

  private static func source(
    _ arguments: Arguments
  ) throws(CommandError) -> Source {
    let versions = ["base", "mine", "theirs"].map(arguments.value)
    if let repository = arguments.value("git") {
      guard !arguments.operands.isEmpty else {
        throw .usage(
          "--git needs files or folders of the repository: rejoin compare --git "
            + "\(repository) PATH…")
      }
      return .git(GitHistory(repository: repository), arguments.operands)
    }
    if let base = versions[0], let mine = versions[1], let theirs = versions[2]
    {
      guard arguments.operands.isEmpty else {
        throw .usage(
          "--base, --mine and --theirs name the files: leave out others")
      }
      return .versions(base: base, mine: mine, theirs: theirs)
    }
    guard versions.allSatisfy({ $0 == nil }) else {
      throw .usage(
        "--base, --mine and --theirs belong together: name three files")
    }
    return arguments.operands.isEmpty ? .generated : .files(arguments.operands)
  }

  private static let workloadOptions = [
    "workload", "seed", "episodes", "devices", "edits", "fields", "counters",
    "sets", "deletions", "clears", "contention", "contact", "skew",
  ]

  /// The options that take a value.
  static let options =
    [
      "format", "strategies", "explain", "html", "git", "base", "mine",
      "theirs",
    ]
    + workloadOptions

  /// The options that take none.
  static let flags = ["all", "suggestions", "help"]

  /// Prints the comparison, or writes it to a page.
  func run() throws {
    if let page { return try write(to: page) }
    if isOfSuggestions {
      return Terminal.write(
        SuggestionReport(try readEpisodes()).text(format))
    }
    if let explained {
      return Terminal.write(try explanation(of: explained))
    }
    if !isGenerated {
      let episodes = try readEpisodes()
      if episodes.isEmpty {
        throw CommandError.usage(
          "no record was changed on both sides; expected some that were")
      }
      return try printTable(episodes, title: nil)
    }
    try printExamples()
    for (place, (name, workload)) in workloads.enumerated() {
      try printTable(
        episodes(workload), name: name, title: title(name, workload),
        isLast: place == workloads.count - 1)
    }
  }

  private func write(to path: String) throws {
    var results: [(title: String, result: ComparisonResult)] = []
    var shown: [Episode] = []
    if isGenerated {
      shown = WorkedExample.all.map(\.episode)
      for (name, workload) in workloads {
        results.append((name, try compared(episodes(workload))))
      }
    } else {
      shown = try readEpisodes()
      results.append(("\(shown.count) records", try compared(shown)))
    }
    let episode = shown.first { $0.id == explained ?? "person" } ?? shown.first
    let text = try Page(results, episode: episode, strategies).html()
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw CommandError.failed("\(path) cannot be written: \(error)")
    }
    Terminal.write("\(path): open it in a browser\n")
  }

  private func compared(_ episodes: [Episode]) throws -> ComparisonResult {
    var line = ProgressLine("comparing episodes", of: episodes.count)
    defer { line.finish() }
    return try Comparison(strategies).run(episodes) { line.update($0) }
  }

  private func episodes(_ workload: Workload) -> [Episode] {
    workload.generate(using: SeededRandom.init(seed:))
  }

  private func readEpisodes() throws -> [Episode] {
    switch source {
    case .generated:
      return WorkedExample.all.map(\.episode)
        + episodes(workloads.last?.1 ?? .hostile)
    case .files(let files):
      do {
        return try files.flatMap { try EpisodeFile.read($0) }
      } catch {
        throw CommandError.usage("\(error)")
      }
    case .git(let history, let paths): return try history.episodes(paths)
    case .versions(let base, let mine, let theirs):
      return try OwnData.episodes(base: base, mine: mine, theirs: theirs)
    }
  }

  private func printExamples() throws {
    for example in WorkedExample.all {
      let report = ExampleReport(example, strategies)
      let text = try report.text(format, colours: Terminal.hasColours)
      Terminal.write(text + "\n")
    }
  }

  private func printTable(
    _ episodes: [Episode], name: String? = nil, title: String?,
    isLast: Bool = true
  ) throws {
    let result = try compared(episodes)
    if let title, format != .json { Terminal.write(title + "\n") }
    Terminal.write(
      Report(result, isWhole: isWhole, name: name)
        .text(format, colours: Terminal.hasColours, hasNotes: isLast))
  }

  private func title(_ name: String, _ workload: Workload) -> String {
    let contact =
      workload.contact > 0
      ? "contact after every \(workload.contact) edits"
      : "no contact before the end"
    let edits =
      workload.editsPerDevice == 1
      ? "1 edit" : "\(workload.editsPerDevice) edits"
    let text =
      "\(name): \(workload.episodes) generated episodes, "
      + "\(workload.devices) devices, \(edits) each, of "
      + "\(workload.fields) fields, \(contact), clocks off by up to "
      + "\(workload.skew) ms, seed \(workload.seed)"
    return format == .markdown ? "### \(text)\n" : text.wrapped(hanging: "  ")
  }

  private func explanation(of id: String) throws -> String {
    let episodes = try readEpisodes()
    guard let episode = episodes.first(where: { $0.id == id }) else {
      let known = episodes.prefix(8).map { "\"\($0.id)\"" }
      throw CommandError.failed(
        "no episode has the ID \"\(id)\"; there are \(episodes.count), such as "
          + known.joined(separator: ", "))
    }
    let text = try Explanation(episode, strategies).text()
    switch format {
    case .table: return text
    case .markdown: return "```\n" + text + "```\n"
    case .json:
      let lines = text.split(separator: "\n").map {
        JSONValue.scalar(.string(String($0)))
      }
      return JSONValue.object([
        "id": .scalar(.string(id)), "story": .array(lines),
      ])
      .description + "\n"
    }
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
  ) throws(CommandError) -> [any Contender]? {
    guard let names else { return nil }
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

  /// The workloads with the options given; by default the mildest and the worst.
  private static func workloads(
    _ arguments: Arguments
  ) throws(CommandError) -> [(name: String, Workload)] {
    let all = [
      ("calm", Workload.calm), ("busy", .busy), ("hostile", .hostile),
    ]
    let name = arguments.value("workload")
    let chosen = all.filter { name.map($0.0.elementsEqual) ?? ($0.0 != "busy") }
    guard !chosen.isEmpty else {
      throw .usage(
        "unknown workload \"\(name ?? "")\"; use calm, busy, hostile")
    }
    var workloads: [(name: String, Workload)] = []
    for (name, workload) in chosen {
      workloads.append((name, try adjusted(workload, arguments)))
    }
    return workloads
  }

  private static func adjusted(
    _ workload: Workload, _ arguments: Arguments
  ) throws(CommandError) -> Workload {
    var workload = workload
    func set<Number: FixedWidthInteger>(
      _ name: String, _ path: WritableKeyPath<Workload, Number>,
      in range: ClosedRange<Number>
    ) throws(CommandError) {
      if let number = try arguments.integer(name, in: range) {
        workload[keyPath: path] = number
      }
    }
    try set("seed", \.seed, in: 0...UInt64.max)
    try set("episodes", \.episodes, in: 1...1_000_000)
    try set("devices", \.devices, in: 1...64)
    try set("edits", \.editsPerDevice, in: 0...1000)
    try set("fields", \.fields, in: 1...1000)
    try set("contact", \.contact, in: 0...1000)
    try set("skew", \.skew, in: 0...(1 << 40))
    for (name, path) in [
      ("counters", \Workload.counters), ("sets", \.sets),
      ("deletions", \.deletions), ("clears", \.clears),
      ("contention", \.contention),
    ] {
      // In percent, as they are told.
      if let share = try arguments.integer(name, in: 0...100) {
        workload[keyPath: path] = Double(share) / 100
      }
    }
    return workload
  }
}
