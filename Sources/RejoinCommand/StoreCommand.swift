// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinComparison
import RejoinSQL
import RejoinStore

/// `rejoin store` prints what is in a store.
struct StoreCommand {
  /// The options that take no value.
  static let flags = ["check", "help"]

  private let file: String
  private let isChecking: Bool

  /// Reads the arguments of `store`.
  init(_ arguments: Arguments) throws(CommandError) {
    file = try arguments.file(of: "store")
    isChecking = arguments.has("check")
  }

  /// Reads the store, which checks every row, and prints what it has.
  func run() throws(CommandError) {
    let summary: StoreSummary
    do {
      summary = try StoreSummary(
        of: try SQLiteConnection(opening: file, .reading),
        checksPages: isChecking)
    } catch { throw .failed("\(file): \(error)") }
    Terminal.write("\(file): \(size("")) bytes, and \(size("-wal")) of log\n")
    for scope in summary.scopes {
      Terminal.write("\n" + scope.text(colors: Terminal.hasColors))
    }
    guard summary.faults.isEmpty else {
      throw .failed("\(file): \(summary.faults.joined(separator: "\n"))")
    }
    guard isChecking else { return }
    Terminal.write("\nEvery page and every row is as it was written.\n")
  }

  /// The bytes of the file, or of one beside it.
  private func size(_ end: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: file + end)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }
}

extension StoreSummary.Scope {
  /// The scope, its records by entity, and the last save of each device.
  fileprivate func text(colors: Bool) -> String {
    let version = replica.version
    let devices = TextTable(
      header: ["device", "saves", "last at", "digest", ""],
      rows: version.vectorClock.entries.map { entry in
        let save = version[entry.device]
        return row(
          "\(entry.device)", "\(save.sequence)", "\(save.time)",
          save.digest.hexadecimal,
          (entry.device == replica.device ? "own" : "")
            + (save.isForked ? " forked" : ""))
      })
    var counts: [String: Int] = [:]
    for position in 0..<replica.recordCount {
      counts[replica.recordID(at: position).entity, default: 0] += 1
    }
    let records = TextTable(
      header: ["entity", "records"],
      rows: counts.sorted { $0.key < $1.key }.map { row($0.key, "\($0.value)") }
    )
    let head = """
      scope "\(name)": device \(replica.device), opened \(openings) times
      \(replica.recordCount) records in \(recordBytes) bytes, \(patches) patches in \
      \(patchBytes), \(digests) digests

      """
    return [records, devices].filter { !$0.rows.isEmpty }
      .reduce(head) { $0 + "\n" + $1.aligned(colors: colors) }
  }

  private func row(_ cells: String...) -> [TextTable.Cell] {
    cells.map { TextTable.Cell(text: $0) }
  }
}
