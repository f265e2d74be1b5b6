// SPDX-License-Identifier: Apache-2.0

import RejoinComparison

extension CompareCommand {
  /// Refuses options that another option would leave without effect.
  static func checkThatAllApply(
    _ arguments: Arguments
  ) throws(CommandError) {
    for (option, others) in [
      ("git", ["base", "mine", "theirs"]), ("html", ["format", "export"]),
      ("export", ["format", "explain", "all", "strategies", "contender"]),
    ] where arguments.isGiven(option) {
      if let other = others.first(where: arguments.isGiven) {
        throw .usage(
          "cannot combine --\(option) with --\(other); use one of them")
      }
    }
  }

  func checkThatWorkloadOptionsApply(
    _ arguments: Arguments
  ) throws(CommandError) {
    let given = Self.generatedEpisodes.options.flatMap(\.names)
      .first(where: arguments.isGiven)
    if let given, !isGenerated {
      throw .usage(
        "--\(given) applies to generated episodes; leave out the data, or "
          + "leave out --\(given)")
    }
    if isGenerated, arguments.isGiven("kinds") {
      throw .usage("--kinds applies to data; name files, or leave out --kinds")
    }
  }

  /// The kinds in a list such as `qty=counter,tags=set`.
  static func kinds(_ text: String?) throws(CommandError) -> DeclaredKinds {
    guard let text else { return DeclaredKinds() }
    guard let kinds = DeclaredKinds(text) else {
      throw .usage(
        "--kinds needs fields with their kinds, not \"\(text)\"; write "
          + "qty=counter,tags=set,name=register")
    }
    return kinds
  }

  static func source(
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

  static func format(
    _ name: String?
  ) throws(CommandError) -> OutputFormat {
    guard let name else { return .table }
    guard let format = OutputFormat(rawValue: name) else {
      let known = OutputFormat.allCases.map(\.rawValue)
      throw .usage(
        "unknown format \"\(name)\"; use \(known.joined(separator: ", "))")
    }
    return format
  }

  static func strategies(
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

  /// The workloads with the given options, by default the mildest and the worst.
  ///
  /// - Parameter areShort: Whether to make fewer episodes, for a first
  ///   impression.
  static func workloads(
    _ arguments: Arguments, areShort: Bool
  ) throws(CommandError) -> [(name: String, Workload)] {
    let all = [
      ("calm", Workload.calm), ("busy", .busy), ("hostile", .hostile),
      ("reported", .reported),
    ]
    let usual =
      ["calm", "hostile"]
      + (arguments.isGiven("contender") ? ["reported"] : [])
    let names = arguments.value("workload").map { [$0] } ?? usual
    let chosen = all.filter { names.contains($0.0) }
    guard !chosen.isEmpty else {
      throw .usage(
        "unknown workload \"\(names[0])\"; use "
          + all.map(\.0).joined(separator: ", "))
    }
    var workloads: [(name: String, Workload)] = []
    for (name, var workload) in chosen {
      if areShort { workload.episodes = 100 }
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
    try set("episodes", \.episodes, in: 1...100_000)
    try set("devices", \.devices, in: 1...64)
    try set("edits", \.editsPerDevice, in: 0...1000)
    try set("fields", \.fields, in: 1...1000)
    try set("contact", \.contact, in: 0...1000)
    try set("skew", \.skew, in: 0...(1 << 40))
    try set("tick", \.tick, in: 1...(1 << 40))
    for (name, path) in [
      ("counters", \Workload.counters), ("sets", \.sets),
      ("deletions", \.deletions), ("clears", \.clears),
      ("contention", \.contention), ("resets", \.resets),
      ("deleted", \.deleted), ("repeats", \.repeats),
    ] {
      if let percent = try arguments.number(name, in: 0...100) {
        workload[keyPath: path] = percent / 100
      }
    }
    return workload
  }
}

/// The format of the output.
enum OutputFormat: String, CaseIterable {
  /// Aligned text for a terminal.
  case table
  /// Markdown for a document.
  case markdown
  /// One JSON document.
  case json
  /// A JSON object on each line.
  case jsonl
}

extension TextTable {
  /// The table in a format for people.
  func text(_ format: TextFormat) -> String {
    format == .markdown ? markdown() : aligned(colors: Terminal.hasColors)
  }
}
