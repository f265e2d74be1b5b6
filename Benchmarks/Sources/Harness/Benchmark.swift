// SPDX-License-Identifier: Apache-2.0

import CAllocations

/// Something to measure: a work that takes time, or a size.
public struct Benchmark {
  /// Which row of the table, "W9".
  public let id: String
  /// What is done.
  public let work: String
  /// The size of the state, where cost is shown against it.
  public let size: Int?
  /// What one figure is of, "field".
  public let item: String
  /// The greatest figure that meets the target.
  public let target: Double?
  /// The loop that shows what the machine can do.
  public let reference: Reference?
  let body: Body

  enum Body {
    case time((Scale) throws -> Work)
    case size((Scale) throws -> Int, per: Int, quick: Int?)
  }
}

/// How much is done.
public enum Scale: Sendable {
  /// What the table is about.
  case full
  /// A hundredth of it, once, to check that the benchmarks do what they say.
  case quick

  /// A number of things, at this scale.
  public func callAsFunction(_ count: Int) -> Int {
    self == .full ? count : max(count / 100, 10)
  }
}

/// A work of a known number of operations with a known result.
public struct Work {
  let operations: Int
  let expecting: Int
  let run: () throws -> Run

  /// One run of a work.
  struct Run {
    let time: Duration
    /// How often memory was allocated.
    let allocations: Int
    /// The bytes that are still held afterwards.
    let held: Int
    let result: Int
  }

  /// Creates a work.
  ///
  /// - Parameters:
  ///   - operations: By what the time is divided.
  ///   - expecting: What `body` must return.
  ///   - setUp: Makes what `body` works on, outside the time that is measured.
  ///   - body: What is measured.
  ///   - result: What must be `expecting`, found outside the time that is
  ///     measured; by default, what `body` returns.
  public init<Input>(
    operations: Int, expecting: Int, setUp: @escaping () throws -> Input,
    body: @escaping (inout Input) throws -> Int,
    result: @escaping (Input, Int) throws -> Int = { $1 }
  ) {
    self.operations = operations
    self.expecting = expecting
    run = {
      var input = try setUp()
      let (bytes, count) = (allocated_bytes(), allocation_count())
      let start = ContinuousClock.now
      let returned = try body(&input)
      let time = ContinuousClock.now - start
      let allocations = allocation_count() - count
      let held = Int(allocated_bytes()) - Int(bytes)
      return Run(
        time: time, allocations: allocations, held: held,
        result: try result(input, returned))
    }
  }
}
