// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Random numbers that a seed determines: splitmix64.
///
///     var random = SeededRandom(seed: 7)
///     random.number(below: 10)          // 7, today and everywhere
///     random.pick(["a", "b"])   // "a"
///
/// A seed gives the same numbers on every platform and with every version of the
/// standard library, so that a failure can be replayed from it. Steele, Lea,
/// Flood, *Fast splittable pseudorandom number generators* (2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates the source that `seed` determines.
  public init(seed: UInt64) { state = seed }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from zero up to, and not including, `bound`.
  ///
  /// - Precondition: `bound` is positive.
  public mutating func number(below bound: Int) -> Int {
    precondition(bound > 0, "there is no number below \(bound)")
    return Int(next() % UInt64(bound))
  }

  /// True in `percent` cases of a hundred.
  public mutating func chance(percent: Int) -> Bool {
    number(below: 100) < percent
  }

  /// One of `choices`.
  ///
  /// - Precondition: There is at least one.
  public mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[number(below: choices.count)]
  }

  /// The elements of `list` in some order.
  public mutating func shuffled<Element>(_ list: [Element]) -> [Element] {
    var list = list
    for i in list.indices.dropFirst() { list.swapAt(i, number(below: i + 1)) }
    return list
  }

  /// A timestamp unrelated to all others: clocks are wrong, and timestamps often
  /// equal.
  public mutating func timestamp() -> Timestamp {
    Timestamp(milliseconds: Int64(number(below: 5)))
  }
}
