// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Programs about fields that are sent as fragments.
extension ExplorerProgram {
  /// A set with one element, and a register whose saves need the same
  /// intervals.
  static let oneElement = ExplorerProgram(
    "one element", [name, tags], [a.inserting(["x"], into: tags)],
    [a.removing(["x"], from: tags), a[name, .int(1)]], [a[name, .int(2)]])

  /// A set with two elements.
  static let twoElements = ExplorerProgram(
    "two elements", [tags], [a.inserting(["x", "y"], into: tags)],
    [a.removing(["x"], from: tags)], [a.inserting(["x"], into: tags)])

  /// A set that is cleared.
  static let clearedElements = ExplorerProgram(
    "cleared elements", [tags], [a.inserting(["x"], into: tags)],
    [a.removing(["x"], from: tags)],
    [.edit(a, tags, .members(.clearing))])

  /// A counter that is reset, and a register.
  static let resets = ExplorerProgram(
    "resets", [name, count], [a.adding(1, to: count)],
    [a.resetting(count, to: 0)], [a[name, .int(1)], a.adding(2, to: count)])

  /// A ledger that is canceled.
  static let cancellations = ExplorerProgram(
    "cancellations", [log], [a.appending(1, to: log)],
    [a.appending(2, to: log), .edit(b, log, .append(.cancelling))],
    [.edit(a, log, .append(.cancelling))])

  /// A record with large fields that is deleted and created again.
  static let recreation = ExplorerProgram(
    "re-creation of large fields", [tags, count],
    [a.inserting(["x"], into: tags), a.adding(1, to: count)], [.delete(a)],
    [a.inserting(["y"], into: tags)])

  private static let fragmentMenu = [
    oneElement, twoElements, clearedElements, resets, cancellations, recreation,
  ]

  /// A counter and a ledger whose cancellations two devices undo.
  private static func undoneFragments(kept: Int) -> ExplorerProgram {
    undoneResets.first(5)
      .reduced(savers: [[0], [0], [1], [0], [1]], times: [0], kept: kept)
  }

  /// The programs of a daily run, for replicas that send fragments whenever
  /// possible.
  public static let quickFragments: [ExplorerProgram] =
    fragmentMenu.map {
      $0.reduced(savers: [[0], [1], [0]], times: [0], kept: 1)
    } + [sets.takingParts(savers: [[0], [1], [0]], kept: 1)]
    + [undoneFragments(kept: 0)]

  /// More than a million configurations, for replicas that send fragments
  /// whenever possible.
  public static let fragments: [ExplorerProgram] =
    fragmentMenu.map {
      $0.reduced(savers: [[0], [1], [0, 2]], times: [0], kept: 2)
    }
    + fragmentMenu.map { $0.splitting(savers: [[0], [1], [2]]) }
    + [sets, counters, ledgers].map {
      $0.reduced(savers: [[0], [1], [0, 2]], times: [0], kept: 2)
    }

  /// More than ten million configurations, for replicas that send fragments
  /// whenever possible.
  public static let nightlyFragments: [ExplorerProgram] =
    fragments + fragmentMenu.map { $0.reduced(times: [0], kept: 3) }
    + [undoneFragments(kept: 1)]
}
