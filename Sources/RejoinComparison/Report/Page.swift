// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// A comparison as an HTML page with bars, the timeline of an episode, and
/// tables.
///
/// The page does not need other files or scripts.
package struct Page: Sendable {
  private let results: [(subject: Subject, result: ComparisonResult)]
  private let episode: Episode?
  private let isChosen: Bool
  private let strategies: [any Contender]

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - results: The comparisons, with their subjects.
  ///   - episode: The episode to draw as a timeline.
  ///   - isChosen: Whether the user, not the command, chose the episode.
  ///   - strategies: The strategies to draw timelines for.
  package init(
    _ results: [(subject: Subject, result: ComparisonResult)],
    episode: Episode?,
    isChosen: Bool = false, _ strategies: [any Contender] = Strategies.usual
  ) {
    (self.results, self.episode) = (results, episode)
    self.isChosen = isChosen
    self.strategies = strategies
  }

  /// The first lines of every page.
  package static let start = "<!DOCTYPE html>\n<!-- rejoin compare -->\n"

  /// Returns the page in HTML.
  ///
  /// - Throws: The errors of the strategies.
  package func html() throws -> String {
    var body = "<h1>\(Report.question.escaped)</h1>\n"
    if let episode { body += try timelines(episode) }
    for (subject, result) in results {
      let headline = Headline(subject: subject, result: result).text
      body +=
        "<section><h2>\(subject.name.escaped)</h2>\n"
        + "<p>\(subject.title(result).escaped)</p>\n"
        + bars(result) + Report(result, of: subject).table.html()
        + "<p>\(headline.escaped)</p>\n</section>\n"
    }
    for (subject, result) in results {
      let report = Report(result, of: subject, isWhole: true)
      body +=
        "<section><h2>All counts: \(subject.name.escaped)</h2>\n"
        + report.table.html() + (report.certainty?.html() ?? "")
        + report.definitions.map { "<p>\($0.escaped)</p>\n" }.joined()
        + "</section>\n"
    }
    body += rules
    body += "<p>Made by rejoin compare, method \(ComparisonJSON.version).</p>\n"
    return Self.start + """
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>rejoin compare</title>
      <style>
      \(Self.style)
      </style>
      </head>
      <body>
      \(body)</body>
      </html>

      """
  }

  private static let style = """
    :root { color-scheme: light dark; --ink: #1c2024; --faint: #68707a;
      --line: #d9dde2; --paper: #fff; --lost: #b3261e; --kept: #1b6e3c;
      --bar: #b3261e; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea;
      --faint: #9aa3ad; --line: #3a4047; --paper: #16191d; --lost: #ff8a80;
      --kept: #7bd69b; --bar: #d9534a; } }
    body { margin: 0 auto; padding: 1rem; max-width: 76rem; color: var(--ink);
      background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
    h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
    .bar { margin: 0.5rem 0; } .bar span { color: var(--faint); }
    .bar div { height: 0.75rem; background: var(--bar); }
    .bar .waiting { background: var(--line); }
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; font-size: 0.75rem; margin: 1rem 0; }
    th, td { padding: 0.25rem 0.3rem; border-bottom: 1px solid var(--line);
      text-align: right; vertical-align: bottom; }
    th { color: var(--faint); font-weight: 500; }
    td:first-child, th:first-child { text-align: left; min-width: 10rem;
      overflow-wrap: anywhere; }
    .line { display: grid; grid-template-columns: 8rem 1fr; gap: 0 0.75rem;
      padding: 0.25rem 0; border-left: 2px solid var(--line);
      padding-left: 0.75rem; margin-left: 0.25rem; }
    .line b { font-weight: 600; overflow-wrap: anywhere; }
    .line small { color: var(--faint); display: block; }
    del { color: var(--lost); } ins { color: var(--kept);
      text-decoration: none; }
    p del { text-decoration: none; }
    li, p { overflow-wrap: anywhere; max-width: 60rem; }
    .line, .bar { max-width: 60rem; }
    """

  private func bars(_ result: ComparisonResult) -> String {
    let groups = Dictionary(grouping: result.strategies, by: bar)
    var order: [String] = []
    for bar in result.strategies.map(bar) where !order.contains(bar) {
      order.append(bar)
    }
    return order.map { bar in
      let names = groups[bar, default: []].map(\.name).joined(separator: ", ")
      return "<div class=\"bar\">\(names.escaped) \(bar)</div>\n"
    }.joined()
  }

  /// Returns the bar of a strategy, with its losses and then its waiting
  /// changes.
  private func bar(_ strategy: StrategyResult) -> String {
    let losses = strategy.losses
    func part(_ count: Int, _ words: String, _ kind: String) -> [String] {
      let percent = count.percent(of: losses.changes)
      return [
        "\(count.grouped) of \(losses.changes.grouped) \(words) (\(percent))",
        "<div class=\"\(kind)\" style=\"width:\(percent)\"></div>",
      ]
    }
    let lost = part(losses.lost, "field changes lost", "lost")
    let waiting =
      losses.waiting == 0
      ? ["", ""] : part(losses.waiting, "waiting", "waiting")
    let text = lost[0] + (waiting[0].isEmpty ? "" : ", \(waiting[0])")
    return "<span>\(text)</span>\(lost[1])\(waiting[1])"
  }

  /// Returns the timelines of an episode, one for all strategies with the same
  /// ending.
  private func timelines(_ episode: Episode) throws -> String {
    let oracle = Oracle(episode)
    var (order, names) = ([String](), [String: [String]]())
    for strategy in strategies {
      let outcome = try strategy.outcome(of: episode)
      let verdict = oracle.verdict(on: outcome)
      let lost = verdict.losses.words
      let ending =
        timeline(episode, verdict.fates)
        + "<p>ends with \(episode.words(for: outcome).escaped); lost: "
        + (lost == "nothing" ? "<ins>nothing</ins>" : "<del>\(lost)</del>")
        + "</p>\n"
      if names[ending] == nil { order.append(ending) }
      names[ending, default: []].append(strategy.name)
    }
    var text = "<section><h2>One episode: \(episode.id.escaped)</h2>\n"
    let reason =
      isChosen ? "" : "In this record, the strategies differ most. "
    text += "<p>\(reason)A lost change is struck through.</p>\n"
    for ending in order {
      let names = names[ending, default: []].joined(separator: ", ")
      text += "<h3>\(names.escaped)</h3>\n" + ending
    }
    return text + "</section>\n"
  }

  private func timeline(
    _ episode: Episode, _ fates: [OfflineEdit: Fate]
  ) -> String {
    episode.chronicle.map { time, edit in
      let deeds = edit.fields.sorted().map { field in
        let deed = edit.deed(on: field).escaped
        let change = OfflineEdit(device: edit.device, field: field)
        return switch fates[change] {
        case .kept: "<ins>\(deed)</ins> (kept as a sibling)"
        case .reported: "<del>\(deed)</del> (reported)"
        case .dropped: "<del>\(deed)</del>"
        case .waiting: "\(deed) (waiting)"
        case .shown, nil: deed
        }
      }
      let words =
        edit.isDeletion ? "deletes the record" : deeds.joined(separator: "; ")
      return "<div class=\"line\"><b>\(edit.device.escaped)"
        + "<small>\(time)</small></b><span>\(words)</span></div>\n"
    }.joined()
  }

  private var rules: String {
    let strategies = results.first?.result.strategies ?? []
    let items = strategies.map {
      "<li><b>\($0.name.escaped)</b>: \($0.rule.escaped) "
        + "(\($0.source.escaped))</li>\n"
    }
    return "<section><h2>Strategies</h2>\n<ul>\n"
      + items.joined() + "</ul></section>\n"
  }
}

extension TextTable {
  /// Returns the table in HTML.
  fileprivate func html() -> String {
    func row(_ cells: [String], _ tag: String) -> String {
      "<tr>" + cells.map { "<\(tag)>\($0.escaped)</\(tag)>" }.joined()
        + "</tr>\n"
    }
    return "<div class=\"wide\"><table>\n" + row(header.map(\.onOneLine), "th")
      + rows.map { row($0.map(\.text), "td") }.joined() + "</table></div>\n"
  }
}

extension String {
  /// The text as HTML, with the control characters of terminals escaped.
  fileprivate var escaped: String {
    var text = ""
    for scalar in printable.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
