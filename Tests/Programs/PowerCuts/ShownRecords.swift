// SPDX-License-Identifier: Apache-2.0

import RejoinStore

/// All records that a store or a reader shows.
struct ShownRecords: Equatable, Sendable {
  /// The existing records, sorted.
  let records: [RecordID]
  private let contents: [RecordID: [FieldKey: FieldState]]
  private let counts: [String: Int]

  init(in view: some ReadableReplica) {
    records = view.allRecordIDs
    contents = records.reduce(into: [:]) { contents, id in
      guard let record = view.record(id), view.exists(id) else { return }
      contents[id] = record.fields.reduce(into: [:]) { $0[$1] = record[$1] }
    }
    counts = Set(records.map(\.entity)).reduce(into: [:]) {
      $0[$1] = view.recordCount(of: $1)
    }
  }

  /// Returns the records that others do not show with equal content.
  func differing(from others: ShownRecords) -> [RecordID] {
    records.filter { id in
      contents[id].map { $0 != others.contents[id] } ?? false
    }
  }
}

extension ShownRecords: CustomStringConvertible {
  /// The IDs of the records.
  var description: String { "\(records)" }
}
