// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A model of cr-sqlite's rules: a version for each column.
///
/// The library itself was not run. A write increments the version of its
/// column. The greater version wins, then the greater value, then the greater
/// device. A counter or a set is one value. Each row counts its deletions and
/// insertions, and the row with the greater count wins with its columns, so a
/// deletion wins over a concurrent update.
struct ColumnVersion: Contender {
  let name = "columnVersion"
  let rule =
    "model of cr-sqlite: in every column, the value written more often wins"
  let source = Source.model("cr-sqlite, vlcn.io")

  /// A value with the parts of its comparison, in order.
  private struct Column {
    var version = 0
    var content: Content?
    var device = ""

    func beats(_ other: Column) -> Bool {
      if version != other.version { return version > other.version }
      let (mine, theirs) = (content?.asOneValue, other.content?.asOneValue)
      if mine != theirs {
        guard let theirs else { return true }
        return mine.map { theirs < $0 } ?? false
      }
      return device > other.device
    }
  }

  /// A row as one device stores it.
  private struct Row {
    /// The number of insertions and deletions, which is odd while the row
    /// exists.
    var count: Int
    var columns: [String: Column]
  }

  func outcome(of episode: Episode) -> Outcome {
    let base = Row(
      count: episode.base == nil ? 0 : 1,
      columns: (episode.base ?? [:]).mapValues { Column(content: $0) })
    var rows: [String: Row] = [:]
    for upload in episode.uploads {
      write(upload, to: &rows[upload.device, default: base])
    }
    var merged = base
    for device in episode.devices {
      guard let row = rows[device], row.count >= merged.count else { continue }
      if row.count > merged.count {
        merged = row
        continue
      }
      merged.columns.merge(row.columns) { $1.beats($0) ? $1 : $0 }
    }
    return Outcome(
      everywhere: merged.count.isMultiple(of: 2)
        ? nil : merged.columns.compactMapValues(\.content))
  }

  private func write(_ upload: Upload, to row: inout Row) {
    let exists = !row.count.isMultiple(of: 2)
    guard let after = upload.after else {
      row = Row(count: row.count + 1, columns: [:])
      return
    }
    if !exists { row.count += 1 }
    for field in upload.changes.keys
    where row.columns[field]?.content != after[field] {
      let version = row.columns[field]?.version ?? 0
      row.columns[field] = Column(
        version: version + 1, content: after[field], device: upload.device)
    }
  }
}
