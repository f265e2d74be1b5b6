// SPDX-License-Identifier: Apache-2.0

import Rejoin

// The programs of daily and nightly runs.
extension ExplorerProgram {
  /// The programs of a daily run, with about a million configurations.
  ///
  /// In most of them, one device saves up to twice and the others at most once,
  /// all clocks show the same time, and up to three messages arrive late.
  /// Others split messages or vary the times, even beyond the maximum clock
  /// skew.
  public static let quick: [ExplorerProgram] = {
    let hour: Int64 = 3_600_000
    var programs: [ExplorerProgram] = []
    for (i, program) in menu.enumerated() {
      // The devices take turns in saving first.
      let savers = [[i % 3], [(i + 1) % 3], [i % 3, (i + 2) % 3]]
      let isLarge = [registers, counters, sets].contains {
        $0.name == program.name
      }
      programs.append(
        program.reduced(savers: savers, times: [0], kept: isLarge ? 3 : 2))
    }
    programs += [
      registers.reduced(savers: [[0], [1], [2]], times: [0, hour], kept: 0),
      ledgers.reduced(savers: [[2], [1], [0]], times: [0, 1], kept: 0),
      registers.first(2).splitting(savers: [[0], [0, 1]]),
      sets.first(2).splitting(savers: [[2], [0, 2]]),
      creation(.deleteWins).splitting(savers: [[1], [0], [0]]),
      existence(.updateWins)
        .reduced(savers: [[0], [1], [2], [0]], times: [0], kept: 1),
      existence(.deleteWins)
        .reduced(savers: [[0], [0], [1], [2]], times: [0], kept: 1),
      existence(.updateWins).first(3).splitting(savers: [[0], [1], [2]]),
      existence(.deleteWins).first(3).splitting(savers: [[0], [0], [1]]),
    ]
    programs += purging(by: [2]) + special(kept: 1) + parts(kept: 0)
    return programs
  }()

  /// Returns programs that transfer records in parts, from one sender or two.
  private static func parts(kept: Int) -> [ExplorerProgram] {
    [
      transfers.takingParts(savers: [[0], [0], [0, 1]], kept: kept),
      registers.takingParts(savers: [[0], [1], [0]], kept: kept),
      creation(.updateWins).takingParts(savers: [[0], [0], [1]], kept: kept),
    ]
  }

  /// Returns programs with other actions than saves of verbs.
  private static func special(kept: Int) -> [ExplorerProgram] {
    [
      retirement.reduced(
        savers: [[0], [1], [0], [2]], times: [0], kept: kept),
      moves.reduced(
        savers: [[0], [1], [2], [1, 2]], times: [0], kept: kept),
      imports.reduced(savers: [[0], [1], [2], [0]], times: [0], kept: kept),
      bringingBack(.updateWins)
        .reduced(savers: [[0], [1], [2], [0]], times: [0], kept: kept),
      bringingBack(.deleteWins)
        .reduced(savers: [[0], [1], [1, 2], [2]], times: [0], kept: kept),
      undoings.reduced(
        savers: [[0], [0], [1], [0], [0], [0]], times: [0], kept: kept - 1),
      undoneResets.first(5)
        .reduced(
          savers: [[0], [0], [1], [0], [1]], times: [0], kept: kept - 1),
    ]
  }

  /// The programs of a nightly run, with more than ten million configurations.
  ///
  /// The programs about purges, retirement, undo, restoring, and split
  /// deletions come first. They are the largest, so a run with a deadline gives
  /// each of them a part of its time. In most of the others, any device makes
  /// any save.
  public static let nightly: [ExplorerProgram] =
    nightlySpecial
    + menu.map { $0.reduced(times: [0], kept: 3) }
    + menu.map { $0.reduced(times: [0, 1], kept: 1) }
    + menu.map { $0.splitting(savers: [[0], [1], [0, 2]]) }
    + [DeletionRule.updateWins, .deleteWins].map {
      existence($0).splitting(savers: [[0], [1], [0, 2], [1, 2]])
    }
    + menu.map { $0.first(2).splitting(savers: [[0, 1, 2], [0, 1, 2]]) }
    + [
      registers.reduced(
        savers: [[0], [1], [2]], times: [0, 1, 3_600_000], kept: 3)
    ]

  /// Returns programs that purge a record while a device edits, restores, undoes
  /// or pulls.
  ///
  /// - Parameter others: The devices that do so.
  private static func purging(by others: [Int]) -> [ExplorerProgram] {
    let (edit, rows) = (a[name, .int(2)], [a[name, .int(7)]])
    return [DeletionRule.updateWins, .deleteWins].flatMap { rule in
      [
        purges(rule, concurrentWith: "an edit", .verbs([edit])),
        purges(rule, concurrentWith: "a restoration", .verbs([.undelete(a)])),
        purges(
          rule, concurrentWith: "a draft", .draft(a, [name: .write(.int(2))])),
        purges(rule, concurrentWith: "a pull", .pull(rows, at: 1)),
      ].map {
        $0.reduced(savers: [[0], [0], [0], others], times: [0], kept: 0)
      } + [
        purges(
          rule, concurrentWith: "an undo", .undo(again: false)
        ).reduced(savers: [[1], [0], [0], [1]], times: [0], kept: 0)
      ]
    }
  }

  /// The programs that come first in a nightly run.
  public static let nightlySpecial: [ExplorerProgram] =
    purging(by: [0, 1, 2])
    + [
      existence(.updateWins).splitting(savers: [[0], [1], [2], [0]]),
      existence(.deleteWins).splitting(savers: [[0], [0], [1], [2]]),
      undoneResets.reduced(
        savers: [[0], [0], [1], [0], [1], [0]], times: [0], kept: 0),
    ] + special(kept: 2) + parts(kept: 2)

  /// Returns the program with other devices, times, and numbers of kept
  /// messages, and without split messages.
  public func reduced(
    savers: [[Int]]? = nil, times: [Int64], kept: Int
  ) -> ExplorerProgram {
    var copy = self
    copy.savers = savers ?? self.savers
    (copy.times, copy.keptMessages, copy.splits) = (times, kept, false)
    return copy
  }

  /// Returns the program with one kept message, which arrives as a whole or in
  /// halves.
  func splitting(savers: [[Int]]) -> ExplorerProgram {
    var copy = reduced(savers: savers, times: [0], kept: 1)
    copy.splits = true
    return copy
  }

  /// Returns the program with transfers in parts and a number of kept messages.
  func takingParts(savers: [[Int]], kept: Int) -> ExplorerProgram {
    var copy = reduced(savers: savers, times: [0], kept: kept)
    copy.takesParts = true
    return copy
  }

  /// Returns the program with only its first saves.
  func first(_ count: Int) -> ExplorerProgram {
    ExplorerProgram(
      name, universe: universe, saves: Array(saves.prefix(count)))
  }
}
