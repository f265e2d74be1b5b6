// SPDX-License-Identifier: Apache-2.0

/// The cases that the laws are checked for: all of them, or a random selection.
struct LatticeCases {
  private var random: SeededRandom?
  private(set) var count = 0

  /// All cases, or a selection if there are too many.
  static let all = LatticeCases(random: nil)

  /// Returns a small selection of cases that a seed determines.
  static func drawn(seed: UInt64) -> LatticeCases {
    LatticeCases(random: SeededRandom(seed: seed))
  }

  private init(random: SeededRandom?) { self.random = random }

  mutating func tried() { count += 1 }

  /// Returns tuples of `values`, which may contain a value repeatedly.
  mutating func tuples<Element>(
    of values: [Element], size: Int
  ) -> [[Element]] {
    guard var random else {
      return (0..<size).reduce([[]]) { tuples, _ in
        tuples.flatMap { tuple in values.map { tuple + [$0] } }
      }
    }
    defer { self.random = random }
    return (0..<6).map { _ in (0..<size).map { _ in random.pick(values) } }
  }

  /// Returns numbers below `bound`, including all of them if they are few.
  mutating func numbers(below bound: Int) -> [Int] {
    if random == nil, bound <= 2_048 { return Array(0..<bound) }
    var source = random ?? SeededRandom(seed: 0)
    let numbers = (0..<(random == nil ? 256 : 32)).map { _ in
      source.number(below: bound)
    }
    if random != nil { random = source }
    return numbers
  }

  /// Returns orders of `values`, including all of them if they are few.
  mutating func orders<Element>(of values: [Element]) -> [[Element]] {
    if random == nil, values.count <= 4 {
      return LatticeCases.permutations(values)
    }
    var source = random ?? SeededRandom(seed: 0)
    let orders = (0..<(random == nil ? 24 : 3)).map { _ in
      source.shuffled(values)
    }
    if random != nil { random = source }
    return orders
  }

  private static func permutations<Element>(
    _ values: [Element]
  ) -> [[Element]] {
    guard values.count > 1 else { return [values] }
    return values.indices.flatMap { i in
      var rest = values
      let first = rest.remove(at: i)
      return permutations(rest).map { [first] + $0 }
    }
  }
}
