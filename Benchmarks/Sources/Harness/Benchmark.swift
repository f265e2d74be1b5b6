// SPDX-License-Identifier: Apache-2.0

import CAllocations

/// A measurement of the time of a work, or of a size.
public struct Benchmark {
  /// The row of the table, such as "W9".
  public let id: String
  /// A description of the work.
  public let work: String
  /// The size of the state, if cost is shown against it.
  public let size: Int?
  /// The thing that one figure measures, such as "field".
  public let item: String
  /// The greatest figure that meets the target.
  public let target: Double?
  /// The loop that shows the speed of the machine.
  public let reference: Reference?
  let body: Body

  enum Body {
    case time((Scale) throws -> Work)
    case size((Scale) throws -> Int, per: Int, quick: Int?)
    case times((Scale) throws -> Double)
  }
}

/// The amount of work.
public enum Scale: Sendable {
  /// The sizes of the table.
  case full
  /// A hundredth of these sizes, in one run, to check the benchmarks.
  case quick

  /// Returns a number of things at this scale.
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
    /// The number of allocations.
    let allocations: Int
    /// The bytes that are still allocated after the run.
    let held: Int
    let result: Int
  }

  /// Creates a work.
  ///
  /// - Parameters:
  ///   - operations: The divisor of the time.
  ///   - expecting: The result that `body` must return.
  ///   - setUp: Creates the input of `body`, outside the measured time.
  ///   - body: The measured work.
  ///   - result: Returns the value to compare with `expecting`, outside the
  ///     measured time. The default is the value that `body` returns.
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
