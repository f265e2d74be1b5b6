// SPDX-License-Identifier: Apache-2.0

/// Loops that show the speed of the machine, timed in every run.
public enum Reference: String, CaseIterable, Sendable {
  /// Inserting strings of six characters into a dictionary.
  case insert = "dictionary insert"
  /// Looking up these strings.
  case lookUp = "dictionary look-up"
  /// Walking two sorted arrays in parallel.
  case walk = "walk of sorted arrays"
  /// Copying memory, per 64 bytes.
  case copy = "copy of 64 bytes"
  /// Sorting integers.
  case sort = "sort"

  /// The time of ``insert`` on the machine of the targets, in nanoseconds.
  static let insertionOfTargets = 100.0

  /// The benchmark of the loop.
  var benchmark: Benchmark {
    Benchmark(
      id: "R", work: rawValue, size: nil, item: "item", target: nil,
      reference: nil, body: .time(work))
  }

  private func work(_ scale: Scale) -> Work {
    let count = scale(100_000)
    switch self {
    case .insert:
      return Work(
        operations: count, expecting: count, setUp: { Self.names(count) }
      ) { names in
        var table: [String: Int] = [:]
        for name in names { table[name] = name.utf8.count }
        return table.count
      }
    case .lookUp:
      return Work(
        operations: count, expecting: count * 7,
        setUp: {
          let names = Self.names(count)
          return (
            names.shuffled(),
            Dictionary(uniqueKeysWithValues: names.map { ($0, $0.utf8.count) })
          )
        }
      ) { (input: inout ([String], [String: Int])) in
        input.0.reduce(0) { $0 + (input.1[$1] ?? 0) }
      }
    case .walk:
      return Work(
        operations: 2 * count, expecting: count,
        setUp: { (Self.numbers(count), Self.numbers(count)) }, body: Self.walk)
    case .copy:
      return Work(
        operations: count, expecting: count,
        setUp: { [UInt64](repeating: 1, count: 8 * count) }
      ) { (words: inout [UInt64]) in
        var copy = words
        copy[0] = 1
        return Int(copy[copy.count - 1]) * copy.count / 8
      }
    case .sort:
      return Work(
        operations: count, expecting: count,
        setUp: { Self.numbers(count).shuffled() }
      ) { numbers in
        numbers.sort()
        return numbers.count
      }
    }
  }

  private static func names(_ count: Int) -> [String] {
    (0..<count).map { "r" + String(1_000_000 + $0).dropFirst() }
  }

  private static func numbers(_ count: Int) -> [Int] {
    (0..<count).map { $0 &* 0x9E37_79B9 }
  }

  /// Returns the count of the numbers that both arrays contain.
  private static func walk(_ arrays: inout ([Int], [Int])) -> Int {
    let (a, b) = arrays
    var (i, j, both) = (0, 0, 0)
    while i < a.count, j < b.count {
      if a[i] == b[j] {
        both += 1
        i += 1
        j += 1
      } else if a[i] < b[j] {
        i += 1
      } else {
        j += 1
      }
    }
    return both
  }
}
