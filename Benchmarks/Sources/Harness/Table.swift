// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Rows as text in aligned columns.
public struct Table {
  private let rows: [Row]
  private let earlier: [String: Row]
  /// The time of an insertion into a dictionary on this machine.
  private let insertion: Double?
  /// The ratio of this machine's times to those of the targets' machine.
  private var slowness: Double {
    insertion.map { $0 / Reference.insertionOfTargets } ?? 1
  }

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - earlier: The rows of another run, to compare with.
  public init(_ rows: [Row], comparing earlier: [Row] = []) {
    self.rows = rows
    insertion = rows.lazy.filter { $0.reference == Reference.insert.rawValue }
      .compactMap { row in row.ratio.map { row.best / $0 } }.min()
    self.earlier = Dictionary(earlier.map { ($0.key, $0) }) { first, _ in first
    }
  }

  /// The table, aligned.
  public var text: String {
    var lines = [
      ["", "work", "size", "best", "median", "×ref", "mallocs", "held"]
        + ["target", ""] + (earlier.isEmpty ? [] : ["before", "change"])
    ]
    for row in rows {
      var line = cells(row)
      if !earlier.isEmpty {
        let before = earlier[row.key]?.best
        line += [
          before.map { Self.figure($0, row.item) } ?? "",
          before.map { "×" + Self.number(row.best / $0) } ?? "",
        ]
      }
      lines.append(line)
    }
    let met = rows.compactMap(isMet)
    var text = Self.aligned(lines, left: [0, 1])
    text += "\n\(met.count { $0 }) of \(met.count) targets are met."
    if let insertion {
      text +=
        " Those of times are ×\(Self.number(slowness)): an insertion into a "
        + "dictionary\ntakes \(Self.number(insertion)) ns here, and "
        + "\(Self.number(Reference.insertionOfTargets)) ns where they were set."
    }
    return text + "\n"
  }

  /// The greatest figure that meets the target on this machine.
  private func target(_ row: Row) -> Double? {
    row.target.map { row.isTime ? $0 * slowness : $0 }
  }

  private func isMet(_ row: Row) -> Bool? { target(row).map { row.best <= $0 } }

  private func cells(_ row: Row) -> [String] {
    let size = row.size.map(Self.size) ?? ""
    let ratio = row.ratio.map(Self.number) ?? ""
    let allocations = row.allocations.map(Self.number) ?? ""
    let held = row.held.map { $0 >= 1 ? "\(Self.number($0)) B" : "" } ?? ""
    let target = target(row).map { "≤ " + Self.figure($0, row.item) } ?? ""
    let isMet = isMet(row).map { $0 ? "✓" : "✗" } ?? ""
    return [
      row.id, row.work, size, Self.figure(row.best, row.item),
      Self.figure(row.median, row.item), ratio, allocations, held, target,
      isMet,
    ]
  }

  /// Lines with columns of equal width.
  static func aligned(_ lines: [[String]], left: Set<Int>) -> String {
    let widths = (lines.first ?? []).indices.map { column in
      lines.map { $0[column].count }.max() ?? 0
    }
    return lines.map { line in
      let cells = line.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return left.contains(column) ? cell + space : space + cell
      }
      return cells.joined(separator: "  ").trimmedEnd + "\n"
    }.joined()
  }

  /// A figure with its unit.
  static func figure(_ value: Double, _ item: String) -> String {
    switch item {
    case "bytes":
      value >= 100_000 ? "\(number(value / 1000)) kB" : "\(number(value)) B"
    case "times": "×\(number(value))"
    default:
      switch value {
      case ..<1000: "\(number(value)) ns"
      case ..<1_000_000: "\(number(value / 1000)) µs"
      default: "\(number(value / 1_000_000)) ms"
      }
    }
  }

  /// Three significant digits.
  static func number(_ value: Double) -> String {
    let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
    return String(format: "%.\(digits)f", value)
  }

  private static func size(_ value: Int) -> String {
    value >= 1_000_000
      ? "\(value / 1_000_000)M"
      : value >= 1000 ? "\(value / 1000)k" : "\(value)"
  }
}

extension String {
  fileprivate var trimmedEnd: String {
    String(reversed().drop { $0 == " " }.reversed())
  }
}
