// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Content {
  /// The content, cut to 60 characters.
  var short: String {
    let text = description
    return text.count <= 60 ? text : text.prefix(59) + "…"
  }
}

extension Episode.Edit {
  /// The edit in words.
  var words: String {
    var words = isDeletion ? ["deletes the record"] : []
    words += clear.sorted().map { "clears \($0)" }
    words += set.sortedByKey.map { "sets \($0) to \(Content.value($1).short)" }
    words += remove.sortedByKey.map { "removes \(list($1)) from \($0)" }
    words += insert.sortedByKey.map { "inserts \(list($1)) into \($0)" }
    words += increment.sortedByKey.map {
      $1 < 0
        ? "takes \((0 &- $1).grouped) from \($0)"
        : "adds \($1.grouped) to \($0)"
    }
    let deed = words.isEmpty ? "saves nothing" : words.joined(separator: "; ")
    return "\(device) at \(at): \(deed)"
  }

  private func list(_ elements: [Value]) -> String {
    elements.isEmpty
      ? "nothing"
      : elements.map { Content.value($0).short }.joined(separator: ", ")
  }
}

extension Dictionary where Key == String {
  /// The pairs in the order of their keys.
  var sortedByKey: [(String, Value)] {
    sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension Episode {
  /// The fields of the outcome that any device changed, or that do not end as
  /// they began.
  func words(for outcome: Outcome) -> String {
    if outcome.agrees { return words(for: outcome.states.first ?? nil) }
    return zip(devices, outcome.states)
      .map { "\($0): \(words(for: $1))" }
      .joined(separator: " — ")
  }

  private func words(for state: PlainRecord?) -> String {
    guard let state else { return "no record" }
    let base = base ?? [:]
    let fields = changedFields.union(
      Set(base.keys).union(state.keys).filter {
        base[$0]?.visible != state[$0]?.visible
      })
    let words = fields.sorted().map {
      "\($0) \(state[$0]?.short ?? (kind(of: $0) == .counter ? "0" : "unset"))"
    }
    return words.isEmpty ? "as it was" : words.joined(separator: ", ")
  }
}
