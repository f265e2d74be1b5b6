// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The cost of works against the size of the state, as an SVG file with two
/// logarithmic axes.
public struct Chart {
  private static let (width, height, margin) = (720.0, 440.0, 60.0)
  private static let colours = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
  ]

  private let lines: [(name: String, points: [(size: Double, cost: Double)])]

  /// Creates a chart of the works in `ids` that were timed at several sizes.
  public init(_ rows: [Row], of ids: Set<String>) {
    var names: [String] = []
    var points: [String: [(size: Double, cost: Double)]] = [:]
    for row in rows where row.isTime && ids.contains(row.id) {
      guard let size = row.size else { continue }
      let name = "\(row.id) \(row.work), per \(row.item)"
      if points[name] == nil { names.append(name) }
      points[name, default: []].append((Double(size), row.best))
    }
    lines = names.compactMap { name in
      points[name].flatMap { $0.count > 1 ? (name, $0) : nil }
    }
  }

  /// The file.
  public var svg: String {
    let all = lines.flatMap(\.points)
    let sizes = Axis(all.map(\.size), from: Self.margin, to: Self.width - 20)
    let costs = Axis(
      all.map(\.cost), from: Self.height - Self.margin, to: 20)
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Self.width)\" "
        + "height=\"\(Self.height + 18 * Double(lines.count))\" "
        + "font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
    ]
    for tick in sizes.ticks {
      let x = sizes[tick]
      parts.append(
        "<path d=\"M\(x) 20V\(Self.height - Self.margin)\" stroke=\"#ddd\"/>"
          + text(x, Self.height - Self.margin + 18, "\(Int(tick))", "middle"))
    }
    for tick in costs.ticks {
      let y = costs[tick]
      parts.append(
        "<path d=\"M\(Self.margin) \(y)H\(Self.width - 20)\" stroke=\"#ddd\"/>"
          + text(Self.margin - 6, y + 4, Table.figure(tick, "item"), "end"))
    }
    for (number, line) in lines.enumerated() {
      let colour = Self.colours[number % Self.colours.count]
      let path = line.points.map { "\(sizes[$0.size]),\(costs[$0.cost])" }
        .joined(separator: " ")
      let y = Self.height - 10 + 18 * Double(number)
      parts.append(
        "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" "
          + "stroke-width=\"2\"/>"
          + "<rect x=\"\(Self.margin)\" y=\"\(y - 9)\" width=\"10\" height=\"10\" "
          + "fill=\"\(colour)\"/>"
          + text(Self.margin + 16, y, line.name, "start"))
    }
    return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private func text(
    _ x: Double, _ y: Double, _ text: String, _ anchor: String
  ) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(text)</text>"
  }
}

/// A logarithmic axis.
private struct Axis {
  private let least: Double
  private let greatest: Double
  private let start: Double
  private let end: Double

  init(_ values: [Double], from start: Double, to end: Double) {
    least = log10(values.min() ?? 1).rounded(.down)
    greatest = max(log10(values.max() ?? 10).rounded(.up), least + 1)
    (self.start, self.end) = (start, end)
  }

  /// The powers of ten.
  var ticks: [Double] {
    stride(from: least, through: greatest, by: 1).map { pow(10, $0) }
  }

  /// The position of a value.
  subscript(value: Double) -> Double {
    let part = (log10(value) - least) / (greatest - least)
    return (10 * (start + part * (end - start))).rounded() / 10
  }
}
