// SPDX-License-Identifier: Apache-2.0

/// Benchmarks, in the order of the table.
public struct Suite {
  private(set) var benchmarks: [Benchmark] = []
  private(set) var growths: [Growth] = []

  /// Creates an empty suite.
  public init() {}

  /// Adds a work that takes time.
  ///
  /// - Parameters:
  ///   - id: The row of the table.
  ///   - work: A description of the work.
  ///   - size: The size of the state, if cost is shown against it.
  ///   - item: The thing that one figure measures.
  ///   - target: The greatest time for one item, in nanoseconds.
  ///   - reference: The loop to compare with.
  ///   - body: Prepares the work.
  public mutating func add(
    _ id: String, _ work: String, size: Int? = nil, per item: String,
    target: Double? = nil, beside reference: Reference? = nil,
    _ body: @escaping (Scale) throws -> Work
  ) {
    benchmarks.append(
      Benchmark(
        id: id, work: work, size: size, item: item, target: target,
        reference: reference, body: .time(body)))
  }

  /// Adds a size in bytes.
  ///
  /// - Parameters:
  ///   - id: The row of the table.
  ///   - work: A description of the counted bytes.
  ///   - size: The size of the state, if cost is shown against it.
  ///   - count: The divisor of the bytes, at full scale.
  ///   - target: The greatest number of bytes.
  ///   - quick: The result of the quick run, which is equal on all machines.
  ///   - body: Counts the bytes.
  public mutating func addBytes(
    _ id: String, _ work: String, size: Int? = nil, per count: Int = 1,
    target: Double? = nil, quick: Int? = nil,
    _ body: @escaping (Scale) throws -> Int
  ) {
    benchmarks.append(
      Benchmark(
        id: id, work: work, size: size, item: "bytes", target: target,
        reference: nil, body: .size(body, per: count, quick: quick)))
  }

  /// Adds a figure that is neither a time nor a size, such as a ratio or a count.
  ///
  /// - Parameters:
  ///   - id: The row of the table.
  ///   - work: A description of the figure.
  ///   - size: The size of the state, if cost is shown against it.
  ///   - target: The greatest figure.
  ///   - body: Measures the figure.
  public mutating func addTimes(
    _ id: String, _ work: String, size: Int? = nil, target: Double? = nil,
    _ body: @escaping (Scale) throws -> Double
  ) {
    benchmarks.append(
      Benchmark(
        id: id, work: work, size: size, item: "times", target: target,
        reference: nil, body: .times(body)))
  }

  /// Adds a row with the growth of a work's cost from one size to another.
  public mutating func addGrowth(
    of id: String, _ work: String, from small: Int, to large: Int,
    target: Double
  ) {
    growths.append(
      Growth(id: id, work: work, small: small, large: large, target: target))
  }
}

/// The growth of a work's cost from one size to another.
struct Growth {
  let id: String
  let work: String
  let small: Int
  let large: Int
  let target: Double

  func row(_ rows: [Row]) -> Row? {
    func best(_ size: Int) -> Double? {
      rows.first { $0.id == id && $0.work == work && $0.size == size }?.best
    }
    guard let before = best(small), let after = best(large) else { return nil }
    let name = work.split(separator: ",")[0].split(separator: ": ").last ?? ""
    return Row(
      id: "W14", work: "growth of \(id), \(name)",
      size: large, item: "times", best: after / before, median: after / before,
      runs: 1, target: target)
  }
}
