// SPDX-License-Identifier: Apache-2.0

/// A table of the same work by several libraries.
public struct SideBySide {
  private let rows: [Row]

  /// Creates a table of the rows of all libraries.
  public init(_ rows: [Row]) { self.rows = rows }

  /// The table: a line for each work of Rejoin and a peer, with the peer's time
  /// as a multiple of Rejoin's time.
  public var text: String {
    let ours = rows.filter { $0.by == "rejoin" }
    let theirs = rows.filter { $0.by != "rejoin" }
    let peers = Set(theirs.map(\.by)).sorted()
    var lines = [["", "work", "size", "rejoin"] + peers + ["ahead"]]
    for row in ours {
      let others = theirs.filter { $0.key == row.key }
      if others.isEmpty { continue }
      let cells = peers.map { peer in
        others.first { $0.by == peer }.map { other in
          Table.figure(other.best, row.item)
            + " ×\(Table.number(other.best / row.best))"
            + (other.note == nil ? "" : " *")
        } ?? ""
      }
      let isAhead = others.allSatisfy { $0.note != nil || row.best <= $0.best }
      lines.append(
        [
          row.id, row.work, row.size.map { "\($0)" } ?? "",
          Table.figure(row.best, row.item),
        ] + cells + [isAhead ? "✓" : "✗"])
    }
    let notes = Set(
      theirs.compactMap { row in row.note.map { "\(row.by): \($0)" } })
    // A peer's own figures, such as that of a call through its binding.
    let works = Set(ours.map(\.work))
    let others = theirs.filter { !works.contains($0.work) }.map { row in
      "\(row.by): \(row.work), \(Table.figure(row.best, row.item))\n"
    }
    return Table.aligned(lines, left: [0, 1]) + others.joined()
      + notes.sorted().map { "* \($0)\n" }.joined()
  }
}
