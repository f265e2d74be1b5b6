// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// How often rules for contested values would have settled them as people did.
///
/// What counts is every register that two devices have set or cleared differently, of
/// records that people have settled and kept. No rule was fitted to the data; the
/// spread is that of the shares with each repository left out in turn.
public struct SuggestionReport: Sendable {
  /// A register that two devices have changed, and what people made of it.
  private struct Contest: Sendable {
    let field: FieldDifference
    let wanted: Value?
    let repository: String
  }

  private let contests: [Contest]

  /// Whether there is no such register.
  public var isEmpty: Bool { contests.isEmpty }

  /// Finds the contested values of some episodes.
  public init(_ episodes: [Episode]) {
    contests = episodes.flatMap(Self.contests)
  }

  private static func contests(of episode: Episode) -> [Contest] {
    guard case .record(let wanted)? = episode.resolution else { return [] }
    var contests: [Contest] = []
    for field in episode.changedFields.sorted()
    where episode.kind(of: field) == .register {
      var last: [(at: Int64, value: Value?)] = []
      for device in episode.devices {
        let edit = episode.edits.last {
          $0.device == device && $0.fields.contains(field)
        }
        if let edit { last.append((edit.at, edit.set[field])) }
      }
      guard last.count == 2, last[0].value != last[1].value else { continue }
      contests.append(
        Contest(
          field: FieldDifference(
            field: field, base: (episode.base ?? [:]).value(field),
            mine: last[0].value, store: last[1].value,
            storeIsLater: last[1].at > last[0].at),
          wanted: wanted.value(field), repository: episode.repository ?? ""))
    }
    return contests
  }

  private static let rules:
    [(name: String, rule: @Sendable (FieldDifference) -> Value??)] = [
      (
        "changes of both by words, else the farther from the base",
        { .some($0.suggested) }
      ),
      (
        "changes of both by words, where they do not touch",
        { field in field.mergedByWords.map { .some($0) } }
      ),
      (
        "the greatest number, of two numbers",
        { field in
          let values = [field.mine, field.store].compactMap(\.self)
          let numbers = values.filter { [$0].greatestNumber != nil }
          return numbers.count == 2 ? .some(numbers.greatestNumber) : nil
        }
      ),
      (
        "the greatest version, of two texts",
        { field in
          let values = [field.mine, field.store].compactMap(\.self)
          let texts = values.filter { [$0].greatestVersion != nil }
          return texts.count == 2 ? .some(texts.greatestVersion) : nil
        }
      ),
      ("the later", { .some($0.storeIsLater ? $0.store : $0.mine) }),
      ("the earlier", { .some($0.storeIsLater ? $0.mine : $0.store) }),
    ]

  /// The shares, as a table.
  public func text(_ format: ReportFormat) -> String {
    var table = TextTable(
      header: ["rule", "as people", "of all", "one left out"])
    table.isNameAlone = true
    var objects: [String] = []
    for (name, rule) in Self.rules {
      let hits = contests.map { contest in
        (contest.repository, rule(contest.field) == .some(contest.wanted))
      }
      let share = Self.share(hits.map(\.1))
      let left = Set(hits.map(\.0)).map { repository in
        Self.share(hits.filter { $0.0 != repository }.map(\.1))
      }
      let (least, greatest) = (left.min() ?? share, left.max() ?? share)
      let count = hits.count { $0.1 }
      table.rows.append([
        .init(text: name), .init(text: "\(count)"),
        .init(text: share.percent),
        .init(text: "\(least.percent) – \(greatest.percent)"),
      ])
      objects.append(
        "{\"rule\":\"\(name)\",\"asPeople\":\(count),\"share\":\(share),"
          + "\"least\":\(least),\"greatest\":\(greatest)}")
    }
    let title =
      "Of \(contests.count) registers that two devices set or cleared differently:"
    switch format {
    case .json:
      return "{\"contested\":\(contests.count),\"suggestions\":["
        + objects.joined(separator: ",") + "]}\n"
    case .table: return title + "\n" + table.aligned(colours: false)
    case .markdown: return title + "\n\n" + table.markdown()
    }
  }

  private static func share(_ hits: [Bool]) -> Double {
    hits.isEmpty ? 0 : Double(hits.count { $0 }) / Double(hits.count)
  }
}
