// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Append-only entries, which reading replays in the order of their times.
///
/// Every change is an immutable entry. Sums are correct. A register shows its
/// latest entry and keeps the earlier ones as its history.
struct AppendOnlyEntries: Contender {
  let name = "appendOnlyEntries"
  let rule =
    "every change is an entry, and reading replays the entries by time"
  let source = Source.article

  func outcome(of episode: Episode) -> Outcome {
    var record = episode.base ?? [:]
    var exists = episode.base != nil
    var kept: [String: Set<Content?>] = [:]
    for (field, content) in record {
      if case .value = content { kept[field] = [content] }
    }
    for entry in episode.uploadsByTime {
      exists = entry.after != nil
      guard exists else { continue }
      for field in entry.forgotten { record[field] = nil }
      record = entry.edit.applied(to: record, of: episode.kinds) ?? [:]
      for field in entry.edit.fields where episode.kind(of: field) == .register
      {
        kept[field, default: []].insert(record[field])
      }
    }
    return Outcome(everywhere: exists ? record : nil, kept: kept)
  }
}
