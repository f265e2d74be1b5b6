// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

extension Content {
  /// The content, shortened to 60 characters.
  var short: String {
    let text = description
    return text.count <= 60 ? text : text.prefix(59) + "…"
  }
}

extension Episode.Edit {
  /// The device, its time and the edit in words.
  var words: String { "\(device) at \(at): \(deed(on: nil))" }

  /// Returns the actions of the edit in words, for one field or for all fields.
  func deed(on field: String?) -> String {
    func isMeant(_ name: String) -> Bool { field == nil || field == name }
    var words = isDeletion ? ["deletes the record"] : []
    words += clear.sorted().filter(isMeant).map { "clears \($0)" }
    words += set.sortedByKey.filter { isMeant($0.0) }
      .map { "sets \($0) to \(Content.value($1).short)" }
    words += remove.sortedByKey.filter { isMeant($0.0) }
      .map { "removes \(list($1)) from \($0)" }
    words += insert.sortedByKey.filter { isMeant($0.0) }
      .map { "inserts \(list($1)) into \($0)" }
    words += increment.sortedByKey.filter { isMeant($0.0) }.map {
      $1 < 0
        ? "takes \((0 &- $1).grouped) from \($0)"
        : "adds \($1.grouped) to \($0)"
    }
    return words.isEmpty ? "saves nothing" : words.joined(separator: "; ")
  }

  private func list(_ elements: [Value]) -> String {
    elements.isEmpty
      ? "nothing"
      : elements.map { Content.value($0).short }.joined(separator: ", ")
  }
}

extension Dictionary where Key == String {
  /// The pairs, sorted by key.
  var sortedByKey: [(String, Value)] {
    sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension Episode {
  /// Returns the fields of the outcome that a device changed or that end with
  /// different content.
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

extension Episode {
  /// The edits in words, in the order of their times.
  var story: [String] {
    chronicle.map { "\($0): \($1.device) \($1.deed(on: nil))" }
  }

  /// The edits in the order of their times, each with the time since the first.
  var chronicle: [(time: String, edit: Edit)] {
    let edits = edits.enumerated().sorted {
      ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
    }.map(\.element)
    return edits.map { edit in
      let (elapsed, overflow) = edit.at.subtractingReportingOverflow(
        edits[0].at)
      return (overflow || elapsed <= 0 ? "first" : elapsed.duration, edit)
    }
  }

  /// The fields in which concurrent edits met, in words.
  var meetings: [String] {
    let uploads = uploads
    let deleting = uploads.filter { $0.after == nil }.map(\.device)
    var meetings: [String] = []
    for field in changedFields.sorted() {
      let edits = uploads.filter { $0.edit.fields.contains(field) }
      let others = deleting.filter { device in
        edits.contains { $0.device != device }
      }
      guard Set(edits.map(\.device)).count > 1 || !others.isEmpty else {
        continue
      }
      let deeds =
        edits.map { "\($0.device) \($0.edit.deed(on: field))" }
        + others.map { "\($0) deletes the record" }
      meetings.append("\(field): " + deeds.joined(separator: ", "))
    }
    return meetings
  }
}

extension Int64 {
  /// The milliseconds in the two largest units.
  fileprivate var duration: String {
    let units: [(Int64, String)] = [
      (86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"),
      (1, "ms"),
    ]
    var (rest, words) = (self, [String]())
    for (size, name) in units where words.count < 2 {
      if rest >= size || !words.isEmpty {
        words.append("\(rest / size) \(name)")
        rest %= size
      }
    }
    if words.last?.hasPrefix("0 ") == true { words.removeLast() }
    return words.joined(separator: " ") + " later"
  }
}
