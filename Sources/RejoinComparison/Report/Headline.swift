// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The result of a comparison in one or a few sentences.
struct Headline {
  let subject: Subject
  let result: ComparisonResult

  var text: String {
    let named = Dictionary(
      uniqueKeysWithValues: result.strategies.map { ($0.name, $0) })
    var losing = [
      ("saving whole records", named["recordByServerTime"]),
      ("saving changed fields", named["changedKeys"]),
    ].compactMap { words, strategy in
      strategy.map { "\(words) loses something in \(share($0))" }
    }
    if losing.isEmpty {
      losing = result.strategies.prefix(3).map {
        "`\($0.name)` loses something in \(share($0))"
      }
    } else if losing.count == 2 {
      losing[1] = losing[1].replacing(" loses something in", with: " in")
    }
    return "In \(subject.phrase(result)), "
      + losing.joined(separator: ", ") + ". "
      + ends(named["handler.threeWay"], named["rejoin"])
      + deletions(named["rejoin"])
  }

  /// Returns a sentence about the deletions that Rejoin loses to concurrent
  /// edits.
  private func deletions(_ rejoin: StrategyResult?) -> String {
    guard let score = rejoin?.ifDeletionsWin, score.lossy > 0,
      rejoin?.score.lossy == 0
    else { return "" }
    return
      " If a deletion should win over an edit, Rejoin loses the deletion in "
      + "\(score.lossy.counted("record"))."
  }

  private func ends(_ handler: StrategyResult?, _ rejoin: StrategyResult?)
    -> String
  {
    let careful = "A handler that merges three versions field by field"
    switch (handler?.score.lossy, rejoin?.score.lossy) {
    case (0, 0):
      return
        "\(careful) loses nothing, and neither does Rejoin. That is what both "
        + "are specified to do."
    case (_?, 0):
      return
        "\(careful) loses something in \(handler.map(share) ?? ""). Rejoin "
        + "loses nothing. That is what it is specified to do."
    case (nil, 0): return "Rejoin loses nothing, as it is specified to do."
    case (_, let lossy?):
      return "Rejoin loses something in \(lossy.grouped), which is a fault."
    case (0, nil): return "\(careful) loses nothing."
    case (_?, nil):
      return "\(careful) loses something in \(handler.map(share) ?? "")."
    case (nil, nil): return ""
    }
  }

  /// Returns the share of records with a loss, with an interval if available.
  private func share(_ strategy: StrategyResult) -> String {
    let (part, whole) = (strategy.score.lossy, strategy.score.episodes)
    guard part > 0, let spread = Spread(.lossyRecords, of: strategy) else {
      return "\(part.grouped) of \(whole.grouped) (\(part.percent(of: whole)))"
    }
    let percent = (Double(part) / Double(max(whole, 1))).wholePercent
    return
      "\(percent)% (\(spread.low.wholePercent)–\(spread.high.wholePercent))"
  }
}
