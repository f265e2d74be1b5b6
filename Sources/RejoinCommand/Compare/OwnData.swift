// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

/// Episodes from data that was not written for a comparison.
enum OwnData {
  /// The records that both sides have changed in three versions of a file: of a
  /// table as CSV or JSON, or of an SQLite file's tables.
  static func episodes(
    base: String, mine: String, theirs: String
  ) throws -> [Episode] {
    let paths = [base, mine, theirs]
    do {
      let files = try paths.map(read)
      guard files.contains(where: \.isSQLite) else {
        let tables = try zip(files, paths).map {
          try RecordTable($0, named: $1)
        }
        return RecordTable.episodes(
          name(mine), base: tables[0], mine: tables[1], theirs: tables[2])
      }
      let tables = try paths.map(RecordTable.tables(ofSQLite:))
      let names = Set(tables.flatMap(\.keys)).sorted()
      return names.flatMap { name in
        RecordTable.episodes(
          name, base: tables[0][name] ?? RecordTable(),
          mine: tables[1][name] ?? RecordTable(),
          theirs: tables[2][name] ?? RecordTable())
      }
    } catch let failure as RecordTable.Failure {
      throw CommandError.usage("\(failure)")
    }
  }

  private static func name(_ path: String) -> String {
    URL(fileURLWithPath: path).lastPathComponent
  }

  private static func read(_ path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandError.usage(
        "\(path): the file cannot be read; check the path")
    }
    return [UInt8](data)
  }
}

extension [UInt8] {
  fileprivate var isSQLite: Bool {
    starts(with: Array("SQLite format 3\0".utf8))
  }
}
