// SPDX-License-Identifier: Apache-2.0

import struct Foundation.Data
import class Foundation.FileHandle
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
  /// The path of the page to write.
  private let page: String?
  /// The workloads by their names.
  private let workloads: [(name: String, Workload)]

  /// Where the episodes come from.
  enum Source {
    case generated
    case files([String])
    case git(GitHistory, [String])
    case versions(base: String, mine: String, theirs: String)
  }

  /// Reads the arguments of `compare`.
  init(_ arguments: Arguments) throws(CommandError) {
    try Self.checkThatAllAreHeeded(arguments)
    source = try Self.source(arguments)
    format = try Self.format(arguments.value("format"))
    isWhole = arguments.has("all")
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
  static let flags = ["all", "help"]

  /// Prints the comparison, or writes it to a page.
  func run() throws {
    if let page { return try write(to: page) }
    if let explained {
      return Terminal.write(try explanation(of: explained))
    }
    if !isGenerated { return try printTable(readEpisodes(), title: nil) }
    try printExamples()
    for (place, (name, workload)) in workloads.enumerated() {
      try printTable(
        episodes(workload), name: name, title: title(name, workload),
        isLast: place == workloads.count - 1)
    }
  }

  private func write(to path: String) throws {
    try checkThatPagesAlone(areReplacedAt: path)
    let shown = try readEpisodes()
    var results: [(title: String, result: ComparisonResult)] = []
    if isGenerated {
      for (name, workload) in workloads {
        results.append((name, try compared(episodes(workload))))
      }
    } else {
      results.append(("\(shown.count) records", try compared(shown)))
    }
    let episode =
      try explained.map { try find($0, in: shown) }
      ?? shown.first { $0.id == "person" } ?? shown.first
    let text = try Page(results, episode: episode, strategies).html()
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw CommandError.failed("\(path) cannot be written: \(error)")
    }
    Terminal.write("\(path): open it in a browser\n")
  }

  /// A file that is no page is somebody's data.
  private func checkThatPagesAlone(areReplacedAt path: String) throws {
    let file = FileHandle(forReadingAtPath: path)
    defer { try? file?.close() }
    let start = (try? file?.read(upToCount: Page.start.utf8.count)) ?? Data()
    guard start.isEmpty || start == Data(Page.start.utf8) else {
      throw CommandError.usage(
        "\(path) is there, and is no page of this command; name another file")
    }
  }

  private func compared(_ episodes: [Episode]) throws -> ComparisonResult {
    var line = ProgressLine("comparing episodes", of: episodes.count)
    defer { line.finish() }
    return try Comparison(strategies).run(episodes) { line.update($0) }
  }

  private func episodes(_ workload: Workload) -> [Episode] {
    workload.generate(using: SeededRandom.init(seed:))
  }

  /// The episodes to compare, of which there is at least one.
  private func readEpisodes() throws -> [Episode] {
    let episodes: [Episode]
    switch source {
    case .generated:
      return WorkedExample.all.map(\.episode)
        + self.episodes(workloads.last?.1 ?? .hostile)
    case .files(let files):
      do {
        episodes = try files.flatMap { try EpisodeFile.read($0) }
      } catch {
        throw CommandError.usage("\(error)")
      }
    case .git(let history, let paths): episodes = try history.episodes(paths)
    case .versions(let base, let mine, let theirs):
      episodes = try OwnData.episodes(base: base, mine: mine, theirs: theirs)
    }
    if episodes.isEmpty {
      throw CommandError.usage(
        "no record was changed on both sides; expected some that were")
    }
    return episodes
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
    let episode = try find(id, in: readEpisodes())
    let text = try Explanation(episode, strategies).text()
    switch format {
    case .table: return text
    case .markdown:
      // Longer than any run of marks within.
      let runs = text.split { $0 != "`" }.map(\.count)
      let fence = String(repeating: "`", count: max(runs.max() ?? 0, 2) + 1)
      return fence + "\n" + text + fence + "\n"
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

  private func find(_ id: String, in episodes: [Episode]) throws -> Episode {
    if let episode = episodes.first(where: { $0.id == id }) { return episode }
    let known = episodes.prefix(8).map { "\"\($0.id)\"" }
    throw CommandError.usage(
      "no episode has the ID \"\(id)\"; there are \(episodes.count), such as "
        + known.joined(separator: ", "))
  }
}
