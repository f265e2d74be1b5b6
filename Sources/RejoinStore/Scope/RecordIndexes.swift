// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The sum of the digests of some rows of records, in any order.
///
/// It shows whether an index has the entries that the rows require. A reader finds
/// records by the indexes, and the pages of SQLite have no checksum.
struct RecordDigests: Equatable {
  private var all = Sum()
  /// The records that exist under any rule, with their state.
  private var existing = Sum()

  private struct Sum: Equatable {
    var count: UInt64 = 0
    var sum: UInt64 = 0

    mutating func add(_ digest: UInt64) {
      count += 1
      sum &+= digest
    }
  }

  /// Adds a row.
  ///
  /// - Parameter row: A row with the columns `record`, `entity` and `key`.
  /// - Parameter flags: The flags in its column `state`.
  mutating func add(_ row: any SQLRow, _ flags: RecordFlags) {
    let digest = RecordDigests.digest(of: row)
    all.add(digest)
    if flags.existsUnderAnyRule {
      existing.add(RecordDigests.mix(digest, flags.rawValue))
    }
  }

  private static func digest(of row: any SQLRow) -> UInt64 {
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    for column in 1...2 {
      row.withBytes(column) { bytes in
        for byte in bytes {
          digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3
        }
      }
      digest = mix(digest, Int64(column))
    }
    return mix(digest, row.integer(0))
  }

  private static func mix(_ digest: UInt64, _ number: Int64) -> UInt64 {
    let mixed =
      (digest ^ UInt64(bitPattern: number)) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ (mixed >> 29)
  }

  /// The digests of the entries of a scope in the indexes.
  init(indexesOf scope: Int64, on connection: any SQLConnection) throws {
    try connection.run(
      "SELECT record, entity, key FROM rejoin_record "
        + "INDEXED BY sqlite_autoindex_rejoin_record_1 WHERE scope = $1",
      [.integer(scope)]
    ) { row in
      all.add(RecordDigests.digest(of: row))
    }
    try connection.run(
      "SELECT record, entity, key, state FROM rejoin_record "
        + "INDEXED BY rejoin_existing "
        + "WHERE scope = $1 AND \(Tables.isExisting)", [.integer(scope)]
    ) { row in
      existing.add(
        RecordDigests.mix(RecordDigests.digest(of: row), row.integer(3)))
    }
  }

  init() {}

  /// Builds the indexes of all records again, unless they have these entries.
  ///
  /// - Throws: ``StoreError/damaged(_:)`` if the indexes still have others.
  func repairIndexes(
    of scope: Int64, on connection: any SQLConnection
  ) throws {
    guard connection.dialect == .sqlite else { return }
    do {
      if try RecordDigests(indexesOf: scope, on: connection) == self { return }
    } catch {
      // A missing or damaged index leaves the transaction open. Other errors can
      // end it.
      if connection.isIdle { throw error }
    }
    try connection.run(Tables.existingIndex)
    try connection.run("REINDEX rejoin_record")
    if try RecordDigests(indexesOf: scope, on: connection) != self {
      throw StoreError.damaged("in the indexes of the records")
    }
  }
}
