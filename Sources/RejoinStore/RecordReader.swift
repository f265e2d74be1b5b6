// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// Reads rows of records into a replica.
struct RecordReader {
  /// The scope.
  let row: ScopeRow
  /// The number of each record's row, in the order in which they were read.
  private(set) var numbers: [Int64] = []
  private var seen: Set<Int64> = []
  private var assembly: StoredAssembly
  private let connection: any SQLConnection

  init(
    _ row: ScopeRow, _ assembly: StoredAssembly,
    on connection: any SQLConnection
  ) {
    (self.row, self.assembly, self.connection) = (row, assembly, connection)
    numbers.reserveCapacity(Int(clamping: min(row.records, 1 << 16)))
  }

  /// Reads the records that a condition chooses, and have not been read.
  mutating func read(_ condition: String, _ values: SQLValue...) throws {
    try connection.run(
      "SELECT record, entity, key, body FROM rejoin_record " + condition,
      values
    ) { row in
      let number = row.integer(0)
      guard seen.insert(number).inserted else { return }
      do {
        let id = try row.withBytes(3) { try assembly.add(record: $0) }
        let isOwn =
          row.withBytes(1) { $0.elementsEqual(id.entity.utf8) }
          && row.withBytes(2) { $0.elementsEqual(id.key.utf8) }
        guard isOwn else {
          throw StoreError.damaged("in the key of row \(number) of the records")
        }
      } catch let error as WireError {
        throw StoreError.damaged("in row \(number) of the records: \(error)")
      }
      numbers.append(number)
    }
  }

  /// What is here and not in a version.
  func news(since basis: ReplicaVersion) -> News {
    assembly.news(since: basis)
  }

  consuming func finished() throws -> StoredReplica {
    try assembly.finished()
  }
}
