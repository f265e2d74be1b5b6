// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison
import RejoinTesting

/// Episodes from data that were not written for a comparison.
enum OwnData {
  /// Returns the records that both sides changed in three versions of a file: a
  /// table as CSV or JSON, or the tables of an SQLite file.
  static func episodes(
    base: String, mine: String, theirs: String, _ kinds: DeclaredKinds
  ) throws -> [Episode] {
    let paths = [base, mine, theirs]
    do {
      let contents = try paths.map(Files.read)
      guard contents.contains(where: isSQLite) else {
        let tables = try RecordTable.versions(
          zip(contents, paths).map { ($0, $1) })
        return try RecordTable.episodes(
          name(mine), base: tables[0], mine: tables[1], theirs: tables[2],
          kinds: kinds)
      }
      let tables = try zip(contents, paths).map { bytes, path in
        try Files.withDatabase(path, bytes) {
          try RecordTable.tables(ofSQLite: $0, named: path)
        }
      }
      let names = Set(tables.flatMap(\.keys)).sorted()
      return try names.flatMap { name in
        let versions = tables.map { $0[name] }
        // Dropping a table does not delete its records.
        if versions[1] == nil || versions[2] == nil {
          Terminal.reportLeftOut("table \(name): it is not in all three files")
          return [Episode]()
        }
        return try RecordTable.episodes(
          name, base: versions[0] ?? RecordTable(),
          mine: versions[1] ?? RecordTable(),
          theirs: versions[2] ?? RecordTable(), kinds: kinds)
      }
    } catch let failure as RecordTable.Failure {
      throw CommandError.usage("\(failure)")
    }
  }

  private static func name(_ path: String) -> String {
    URL(fileURLWithPath: path).lastPathComponent
  }

  private static func isSQLite(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: "SQLite format 3\0".utf8)
  }
}
