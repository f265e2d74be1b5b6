// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinComparison
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting

/// `rejoin store` prints what is in a store.
struct StoreCommand {
  static let command = Command(
    name: "store",
    purpose: "print what is in a store on SQLite, and check it",
    usage: "FILE [--check]",
    discussion: """
      For each scope, the command prints its device, the records of each entity, the
      last save of each device, and the routes of its sync engine. It reads and
      checks every row, and names a row that is damaged. It can read a file in use
      and never writes to it.
      """,
    sections: [
      .init(
        title: "OPTIONS",
        options: [
          .init(
            flag: "check", "have SQLite check every page and every index, too")
        ])
    ],
    examples: ["store notes.sqlite", "store --check notes.sqlite"],
    run: { try StoreCommand($0).run() })

  private let file: String
  private let isChecking: Bool

  /// Reads the arguments of `store`.
  init(_ arguments: Arguments) throws(CommandError) {
    file = try arguments.file(of: "store")
    isChecking = arguments.has("check")
  }

  /// Reads the store, which checks every row, and prints its content.
  func run() throws {
    try Files.withDatabase(file) { path in
      let summary: StoreSummary
      do {
        summary = try StoreSummary(
          of: try SQLiteConnection(opening: path, .reading),
          checksPages: isChecking)
      } catch {
        throw CommandError.failed("\(file): \(error)")
      }
      let (size, log) = (size(path), size(path + "-wal"))
      Terminal.write(
        "\(file): \(size.counted("byte")), and \(log.counted("byte")) of log\n")
      for scope in summary.scopes {
        Terminal.write("\n" + scope.text(colors: Terminal.hasColors))
      }
      for name in summary.erasedScopes {
        Terminal.write("\nscope \"\(name)\": erased\n")
      }
      guard summary.faults.isEmpty else {
        throw CommandError.failed(
          "\(file): \(summary.faults.joined(separator: "\n"))")
      }
      if isChecking {
        Terminal.write("\nEvery page and every row is undamaged.\n")
      }
    }
  }

  /// The number of bytes in a file, or 0 without one.
  private func size(_ path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
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
      scope "\(name)": device \(replica.device), opened \(openings.counted("time"))
      \(replica.recordCount.counted("record")) in \(recordBytes.counted("byte")), \
      \(patches.counted("patch", "patches")) in \(patchBytes.counted("byte")), \
      \(digests.counted("digest"))

      """
    return [records, devices, routes].filter { !$0.rows.isEmpty }
      .reduce(head) { $0 + "\n" + $1.aligned(colors: colors) }
  }

  /// The routes of the sync engine, and the saves that each did not show.
  private var routes: TextTable {
    let version = replica.version
    return TextTable(
      header: ["route", "last synced", "unsent saves"],
      rows: notes.compactMap { name, value in
        guard let route = RouteNote.route(ofNote: name),
          let note = RouteNote(decoding: value)
        else { return nil }
        let time = note.lastSynced.map {
          Date(timeIntervalSince1970: Double($0) / 1_000)
            .formatted(.iso8601)
        }
        let unsent = version.saveCount(beyond: note.shown)
        return row(route, time ?? "never", "\(unsent)")
      })
  }

  private func row(_ cells: String...) -> [TextTable.Cell] {
    cells.map { TextTable.Cell(text: $0) }
  }
}
