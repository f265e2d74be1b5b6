// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Append-only entries: every change is an immutable record, and reading
/// replays these in the order of their times.
///
/// Sums are correct. A register shows its latest entry and keeps the earlier
/// ones as its history.
struct AppendOnlyEntries: Contender {
  let name = "appendOnlyEntries"
  let rule =
    "every change is an entry; reading replays the entries by time"

  func outcome(of episode: Episode) -> Outcome {
    var record = episode.base ?? [:]
    var exists = episode.base != nil
    var kept: [String: Set<Value?>] = [:]
    for (field, content) in record {
      if case .value(let value) = content { kept[field] = [value] }
    }
    for entry in sorted(episode.uploads) {
      exists = entry.after != nil
      guard exists else { continue }
      for field in entry.forgotten { record[field] = nil }
      record = entry.edit.applied(to: record, of: episode.kinds) ?? [:]
      for field in entry.edit.fields where episode.kind(of: field) == .register
      {
        kept[field, default: []].insert(record.value(field))
      }
    }
    return Outcome(everywhere: exists ? record : nil, kept: kept)
  }

  private func sorted(_ uploads: [Upload]) -> [Upload] {
    let places = uploads.indices.sorted {
      let (a, b) = (uploads[$0].edit, uploads[$1].edit)
      return (a.at, a.device, $0) < (b.at, b.device, $1)
    }
    return places.map { uploads[$0] }
  }
}
