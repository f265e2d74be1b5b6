// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What was measured.
public struct Row: Codable, Sendable {
  /// Whose work it is.
  public var by = "rejoin"
  /// Which row of the table.
  public let id: String
  /// What was done.
  public let work: String
  /// The size of the state, where cost is shown against it.
  public let size: Int?
  /// What one figure is of; "bytes" and "times" are no times.
  public let item: String
  /// The best of all runs, in nanoseconds for one item.
  public let best: Double
  /// Their median.
  public let median: Double
  /// How many runs there were.
  public let runs: Int
  /// The best, divided by the best of the reference loop.
  public var ratio: Double?
  /// The reference loop.
  public var reference: String?
  /// The greatest figure that meets the target, a time on the machine where the
  /// targets were set.
  public var target: Double?
  /// How often memory is allocated for one item.
  public var allocations: Double?
  /// The bytes of memory that one item holds afterwards.
  public var held: Double?
  /// What should be known about the figure.
  public var note: String?

  /// Whether a figure is a time.
  public var isTime: Bool { item != "bytes" && item != "times" }

  /// What makes rows of two runs comparable.
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

/// What went wrong in a run.
public struct HarnessError: Error, CustomStringConvertible {
  /// The message.
  public let description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}
