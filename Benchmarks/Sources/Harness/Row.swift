// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The result of a measurement.
public struct Row: Codable, Sendable {
  /// The library that did the work.
  public var by = "rejoin"
  /// The row of the table.
  public let id: String
  /// A description of the work.
  public let work: String
  /// The size of the state, if cost is shown against it.
  public let size: Int?
  /// The thing that one figure measures.
  ///
  /// Figures in "bytes" and "times" are not durations.
  public let item: String
  /// The best of all runs, in nanoseconds for one item.
  public let best: Double
  /// The median of all runs.
  public let median: Double
  /// The number of runs.
  public let runs: Int
  /// The best, divided by the best of the reference loop.
  public var ratio: Double?
  /// The reference loop.
  public var reference: String?
  /// The greatest figure that meets the target, a time on the machine where the
  /// targets were set.
  public var target: Double?
  /// The number of allocations for one item.
  public var allocations: Double?
  /// The bytes that one item still uses after the run.
  public var held: Double?
  /// A remark about the figure.
  public var note: String?

  /// Whether a figure is a duration.
  public var isTime: Bool { item != "bytes" && item != "times" }

  /// A key that comparable rows of two runs share.
  var key: String { "\(id) \(work) \(size ?? 0)" }
}

extension [Row] {
  /// Reads rows: JSON, an object a line.
  public init(readingJSONAt path: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let decoder = JSONDecoder()
    self = try text.split(separator: "\n").enumerated().map { number, line in
      do { return try decoder.decode(Row.self, from: Data(line.utf8)) } catch {
        throw HarnessError(
          "\(path):\(number + 1): no row of a benchmark; write one with "
            + "`--json`: \(error)")
      }
    }
  }

  /// The rows as JSON, an object a line.
  public func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try map { String(decoding: try encoder.encode($0), as: UTF8.self) }
      .joined(separator: "\n") + "\n"
  }
}

/// The error of a run.
public struct HarnessError: Error, CustomStringConvertible {
  /// The message.
  public let description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}
