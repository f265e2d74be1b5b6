// SPDX-License-Identifier: Apache-2.0

import RejoinComparison

extension CompareCommand {
  /// Options beside which others would go unheeded.
  static func checkThatAllAreHeeded(
    _ arguments: Arguments
  ) throws(CommandError) {
    for (option, others) in [
      ("git", ["base", "mine", "theirs"]), ("html", ["format"]),
    ] where arguments.isGiven(option) {
      if let other = others.first(where: arguments.isGiven) {
        throw .usage("--\(option) and --\(other): leave out one of them")
      }
    }
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
  ) throws(CommandError) -> ReportFormat {
    guard let name else { return .table }
    guard let format = ReportFormat(rawValue: name) else {
      let known = ReportFormat.allCases.map(\.rawValue)
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

  /// The workloads with the options given; by default the mildest and the worst.
  static func workloads(
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
    try set("episodes", \.episodes, in: 1...100_000)
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
