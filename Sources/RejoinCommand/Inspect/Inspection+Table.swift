// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison
import RejoinTesting

extension Inspection {
  /// The content of the message as tables.
  func table(colors: Bool) -> String {
    let size = summary.sections.reduce(0) { $0 + $1.byteCount }
    var text =
      "\(summary.kind.name), version \(WireKind.version), \(size.counted("byte"))\n"
    let tables = [sectionTable, deviceTable, fieldTable]
    for table in tables where !table.rows.isEmpty {
      text += "\n" + table.aligned(colors: colors)
    }
    return text
  }

  private var sectionTable: TextTable {
    TextTable(
      header: ["section", "bytes"],
      rows: summary.sections.map { row($0.name, "\($0.byteCount)") })
  }

  private var deviceTable: TextTable {
    var rows = intervals.map { device, interval in
      row(
        "\(device)", "\(interval.from)", "\(interval.to.sequence)",
        "\(interval.to.time)", interval.to.digest.hexadecimal)
    }
    rows += clock.map { device, save, n in
      row(
        "\(device)", "0", "\(n)", save.map { "\($0.time)" } ?? "",
        save?.digest.hexadecimal ?? "")
    }
    return TextTable(
      header: ["device", "after", "up to", "time", "digest"], rows: rows)
  }

  private var fieldTable: TextTable {
    TextTable(
      header: ["record", "field", "kind", "clock", "shows"],
      rows: changes.flatMap { change in
        Inspection.fields(of: change).map { key, state, fragment in
          row(
            "\(change.id)", key == .existence ? "(exists)" : key.name,
            key.variant ?? key.kind.rawValue, "\(state.clock)",
            fragment.map { "after \($0.basis): \(state.shown)" } ?? state.shown)
        }
      }, leading: [0, 1, 2, 3, 4])
  }

  private func row(_ cells: String...) -> [TextTable.Cell] {
    cells.map { TextTable.Cell(text: $0) }
  }
}
