// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

/// Episodes from data that was not written for a comparison.
enum OwnData {
  /// The records that both sides have changed in three versions of a file: of a
  /// table as CSV or JSON, or of an SQLite file's tables.
  static func episodes(
    base: String, mine: String, theirs: String, _ kinds: DeclaredKinds
  ) throws -> [Episode] {
    let paths = [base, mine, theirs]
    do {
      guard try paths.contains(where: isSQLite) else {
        let tables = try RecordTable.versions(
          paths.map { (try read($0), $0) })
        return try RecordTable.episodes(
          name(mine), base: tables[0], mine: tables[1], theirs: tables[2],
          kinds: kinds)
      }
      let tables = try paths.map(RecordTable.tables(ofSQLite:))
      let names = Set(tables.flatMap(\.keys)).sorted()
      return try names.flatMap { name in
        let versions = tables.map { $0[name] }
        // Whoever has dropped a table has not deleted its records.
        if versions[1] == nil || versions[2] == nil {
          Terminal.tellLeftOut("table \(name): it is not in all three files")
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

  private static func read(_ path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandError.usage(
        "\(path): the file cannot be read; check the path")
    }
    return [UInt8](data)
  }

  private static func isSQLite(_ path: String) throws -> Bool {
    let file = FileHandle(forReadingAtPath: path)
    defer { try? file?.close() }
    return try file?.read(upToCount: 16) == Data("SQLite format 3\0".utf8)
  }
}
